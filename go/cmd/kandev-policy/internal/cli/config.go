package cli

import (
	"fmt"
	"strings"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/document"
	"github.com/kandev/kandev-policy/go/policy"
)

// configProblem says why the engine can't use a config, which it has refused with err: the file, the place, the key, the
// type found and the type expected.
func configProblem(config document.Document, err error) error {
	if place, problem := document.SyntaxError(config.Bytes); problem != "" {
		return fmt.Errorf("%s: %s", config.At(place), problem)
	}
	problem := strings.TrimPrefix(err.Error(), policy.ErrBadConfig.Error()+": ")
	var place document.Place
	if key, _, ok := strings.Cut(problem, ": "); ok {
		place = document.Key(config.Bytes, key, strings.HasSuffix(problem, ": duplicate key"))
	}
	return fmt.Errorf("%s: %s", config.At(place), problem)
}
