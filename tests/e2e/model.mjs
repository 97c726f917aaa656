// A scripted model behind Anthropic's messages API, on loopback. It answers each conversation with the next tool call of
// its script, then with a text.

import { createServer } from "node:http";

// script(request) gives the list of tool calls, [{name, input}], for the conversation that a request belongs to.
export async function startModel(script) {
  const server = createServer(async (req, res) => {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const path = new URL(req.url, "http://model").pathname;
    const json = (value) => {
      res.writeHead(200, { "content-type": "application/json" });
      res.end(JSON.stringify(value));
    };
    if (req.method === "POST" && path === "/v1/messages") {
      const request = JSON.parse(Buffer.concat(chunks).toString("utf8"));
      const message = answer(request, script);
      return request.stream ? stream(res, message) : json(message);
    }
    if (path === "/v1/messages/count_tokens") return json({ input_tokens: 10 });
    if (path === "/v1/models") return json({ data: [], has_more: false });
    res.writeHead(404);
    res.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

let serial = 0;

function answer(request, script) {
  const content = [];
  let stop = "end_turn";
  if (request.tools?.length > 0) {
    const done = new Set();
    for (const message of request.messages) {
      for (const block of Array.isArray(message.content) ? message.content : []) {
        if (block.type === "tool_result") done.add(block.tool_use_id);
      }
    }
    const call = script(request)[done.size];
    if (call) {
      content.push({ type: "tool_use", id: `toolu_${String(++serial).padStart(6, "0")}`, name: call.name, input: call.input });
      stop = "tool_use";
    }
  }
  if (content.length === 0) content.push({ type: "text", text: "Done." });
  return {
    id: `msg_${++serial}`, type: "message", role: "assistant", model: request.model, content,
    stop_reason: stop, stop_sequence: null, usage: { input_tokens: 10, output_tokens: 10 },
  };
}

function stream(res, message) {
  res.writeHead(200, { "content-type": "text/event-stream" });
  const send = (type, data) => res.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  send("message_start", { message: { ...message, content: [], stop_reason: null } });
  message.content.forEach((block, index) => {
    const tool = block.type === "tool_use";
    send("content_block_start", { index, content_block: tool ? { ...block, input: {} } : { type: "text", text: "" } });
    send("content_block_delta", {
      index,
      delta: tool
        ? { type: "input_json_delta", partial_json: JSON.stringify(block.input) }
        : { type: "text_delta", text: block.text },
    });
    send("content_block_stop", { index });
  });
  send("message_delta", { delta: { stop_reason: message.stop_reason, stop_sequence: null }, usage: { output_tokens: 10 } });
  send("message_stop", {});
  res.end();
}
