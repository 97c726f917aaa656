package main

// static void empty(void) {}
// #cgo noescape empty
// #cgo nocallback empty
import "C"

func init() { emptyCall = func() { C.empty() } }
