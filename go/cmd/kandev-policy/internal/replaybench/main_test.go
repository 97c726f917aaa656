//go:build linux

package main

import (
	"bytes"
	"crypto/sha256"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBench runs the whole comparison over a small recording, from where the Makefile runs it.
func TestBench(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	out, err := exec.Command("go", "run", "./internal/replaybench", "-size", "5000000").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if rows := strings.Count(string(out), "\n"); rows != 9 {
		t.Errorf("%d lines:\n%s", rows, out)
	}
}

// TestRecordingIsTheSame: two runs write the same bytes, and the small one is the beginning of the large one.
func TestRecordingIsTheSame(t *testing.T) {
	frames, _, err := recorded(filepath.Join("..", "..", "..", "..", "..", "tests", "vectors"))
	if err != nil {
		t.Fatal(err)
	}
	var one, again, small bytes.Buffer
	for to, size := range map[*bytes.Buffer]int64{&one: 1e6, &again: 1e6, &small: 1e5} {
		if _, err := writeRecording(to, size, frames); err != nil {
			t.Fatal(err)
		}
	}
	if sha256.Sum256(one.Bytes()) != sha256.Sum256(again.Bytes()) || !bytes.HasPrefix(one.Bytes(), small.Bytes()) || one.Len() < 1e6 {
		t.Error("not the same")
	}
}
