//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/vectors"
)

// recorded gives the captured requests of the released agents that were decided under one config, and that config.
func recorded(folder string) (frames [][]byte, config []byte, err error) {
	list, err := vectors.Read(folder, "acp-capture-*.jsonl")
	if err != nil {
		return nil, nil, err
	}
	config = list[0].Config
	for _, v := range list {
		if bytes.Equal(v.Config, config) {
			frames = append(frames, v.Input)
		}
	}
	return frames, config, nil
}

// writeRecording writes a recording of at least size bytes, always the same one: what a tee on an agent's streams sees of
// sessions that read and edit files, run commands and talk, with a captured permission request and its answer now and
// then. It gives the number of requests.
func writeRecording(to io.Writer, size int64, frames [][]byte) (requests int, err error) {
	w := &counter{to: bufio.NewWriterSize(to, 1<<20)}
	r := recorder{rand.New(rand.NewPCG(1, 2)), w}
	for id := 1; w.bytes < size && w.err == nil; id++ {
		for range 4 + r.IntN(24) {
			r.update("agent_message_chunk", `"content":{"type":"text","text":`+r.text(20+r.IntN(120))+`}`)
		}
		r.update("tool_call", fmt.Sprintf(`"toolCallId":"toolu_%d","title":%s,"kind":"read","status":"pending","rawInput":{"file_path":"src/%d.go"}`, id, r.text(40), id))
		r.line(`{"jsonrpc":"2.0","id":%d,"method":"fs/read_text_file","params":{"sessionId":"s-1","path":"src/%d.go"}}`, id, id)
		r.line(`{"jsonrpc":"2.0","id":%d,"result":{"content":%s}}`, id, r.text(500+r.IntN(6000)))
		r.update("tool_call_update", fmt.Sprintf(`"toolCallId":"toolu_%d","status":"completed","content":[{"type":"diff","path":"src/%d.go","oldText":%s,"newText":%s}]`,
			id, id, r.text(200+r.IntN(2000)), r.text(200+r.IntN(2000))))
		if r.IntN(40) == 0 { // a large file, or a long output
			r.line(`{"jsonrpc":"2.0","id":%d,"result":{"content":%s}}`, id, r.text(100_000+r.IntN(400_000)))
		}
		if r.IntN(2) == 0 {
			r.line(`{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":%s}`, id, bytes.TrimSpace(frames[r.IntN(len(frames))]))
			r.line(`{"jsonrpc":"2.0","id":%d,"result":{"outcome":{"outcome":"selected","optionId":"allow-once"}}}`, id)
			requests++
		}
	}
	if w.err != nil {
		return requests, w.err
	}
	return requests, w.to.Flush()
}

type recorder struct {
	*rand.Rand
	w *counter
}

func (r recorder) line(format string, values ...any) { fmt.Fprintf(r.w, format+"\n", values...) }

func (r recorder) update(kind, members string) {
	r.line(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":%q,%s}}}`, kind, members)
}

// words are what files and talk are made of: letters, escapes and text beyond ASCII.
var words = strings.Fields("func return err if != nil { } \tthe plan and then für \"kandev\" \\n → if( x[i] ); /* why */ 漢字 session")

// text gives about n bytes of text as a JSON string.
func (r recorder) text(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[r.IntN(len(words))])
		if r.IntN(12) == 0 {
			b.WriteByte('\n')
		} else {
			b.WriteByte(' ')
		}
	}
	quoted, _ := json.Marshal(b.String()) // a string always marshals
	return string(quoted)
}

// counter counts what is written, and keeps the first error.
type counter struct {
	to    *bufio.Writer
	bytes int64
	err   error
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.bytes += int64(n)
	if c.err == nil {
		c.err = err
	}
	return n, err
}
