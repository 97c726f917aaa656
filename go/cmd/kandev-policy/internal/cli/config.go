package cli

import (
	"fmt"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/diagnosis"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/document"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/judge"
)

// configProblem says why the engine can't use a config: the file, the place, the key, the type found and the type
// expected.
func configProblem(config document.Document) error {
	if place, problem := document.SyntaxError(config.Bytes); problem != "" {
		return fmt.Errorf("%s: %s", config.At(place), problem)
	}
	problem := diagnosis.Find(config.Bytes, func(config []byte) bool {
		_, usable := judge.New(config)
		return usable
	})
	switch {
	case problem.Text == "":
		return fmt.Errorf("%s: the config can't be used", config.Name)
	case problem.Path == "":
		return fmt.Errorf("%s: %s", config.Name, problem.Text)
	}
	place := document.Key(config.Bytes, problem.Path, problem.Duplicate)
	return fmt.Errorf("%s: %s: %s", config.At(place), problem.Path, problem.Text)
}
