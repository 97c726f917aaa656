package policy

import (
	"fmt"
	"log/slog"
)

// Token is a secret of 43 characters that need no escaping in a URL. It prints as "(redacted)" with every verb of package
// fmt, in log/slog and in encoders, also where it stands in an unexported field. The zero value holds none.
type Token struct {
	// A pointer, since fmt prints the fields of what it finds in an unexported field, but follows no pointer there.
	secret *string
}

const redacted = "(redacted)"

// Expose gives the secret: for the process that it is made for, and for nobody's log.
func (t Token) Expose() string {
	if t.secret == nil {
		return ""
	}
	return *t.secret
}

// String gives "(redacted)".
func (Token) String() string { return redacted }

// Format writes "(redacted)" for every verb.
func (Token) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// LogValue gives "(redacted)".
func (Token) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText gives "(redacted)".
func (Token) MarshalText() ([]byte, error) { return []byte(redacted), nil }
