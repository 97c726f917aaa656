// A scripted model behind OpenAI's responses API, on loopback. It answers each conversation with the next tool call of its
// script, then with a text.

import { createServer } from "node:http";
import * as zlib from "node:zlib";

// script(request) gives the list of tool calls, [{namespace, name, arguments}], for the conversation that a request belongs to.
export async function startResponses(script) {
  const requests = [];
  const server = createServer(async (req, res) => {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    if (req.method !== "POST" || !new URL(req.url, "http://model").pathname.endsWith("/responses")) {
      res.writeHead(404);
      return res.end();
    }
    const request = JSON.parse(decode(Buffer.concat(chunks), req.headers["content-encoding"]));
    requests.push(request);
    stream(res, request.model, output(request, script));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    requests,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function decode(body, encoding) {
  if (encoding === "zstd") return zlib.zstdDecompressSync(body).toString("utf8");
  return body.toString("utf8");
}

let serial = 0;

function output(request, script) {
  const done = request.input.filter((item) => item.type.endsWith("_output")).length;
  const call = script(request)[done];
  const id = ++serial;
  if (!call) {
    return { type: "message", id: `msg_${id}`, role: "assistant", status: "completed", content: [{ type: "output_text", text: "Done.", annotations: [] }] };
  }
  return { type: "function_call", id: `fc_${id}`, call_id: `call_${id}`, status: "completed", ...call, arguments: JSON.stringify(call.arguments) };
}

function stream(res, model, item) {
  res.writeHead(200, { "content-type": "text/event-stream" });
  let number = 0;
  const send = (type, data) => res.write(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...data })}\n\n`);
  const response = { id: `resp_${++serial}`, object: "response", model, status: "in_progress", output: [] };
  send("response.created", { response });
  send("response.output_item.added", { output_index: 0, item });
  send("response.output_item.done", { output_index: 0, item });
  const usage = { input_tokens: 10, input_tokens_details: { cached_tokens: 0 }, output_tokens: 10, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 20 };
  send("response.completed", { response: { ...response, status: "completed", output: [item], usage } });
  res.end();
}
