package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/document"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/judge"
	"github.com/kandev/kandev-policy/go/policy"
)

// inputs are the config and the request of `decide` and `explain`.
type inputs struct {
	config, request document.Document
}

// configFlag adds --config, which every deciding subcommand needs.
func configFlag(command *cobra.Command, path *string) {
	command.Flags().StringVarP(path, "config", "c", "", "the host's config: a JSON `file`, or - for standard input")
	_ = command.MarkFlagRequired("config")
	_ = command.MarkFlagFilename("config", "json")
}

// frameArgument wants one argument. cobra counts them before it misses a flag, so of two files the first is likely to be
// a config that the user didn't name as one.
func frameArgument(command *cobra.Command, args []string) error {
	if len(args) == 2 && !command.Flags().Changed("config") {
		return errors.New("two files but no --config: the config is given as --config FILE, and FRAME alone as an argument")
	}
	return cobra.ExactArgs(1)(command, args)
}

func readInputs(streams Streams, configPath, requestPath string) (inputs, error) {
	if configPath == document.Stdin && requestPath == document.Stdin {
		return inputs{}, errors.New("only one of the config and the request can come from standard input (-)")
	}
	config, err := document.Read(configPath, streams.In)
	if err != nil {
		return inputs{}, unusable(err)
	}
	request, err := document.Read(requestPath, streams.In)
	if err != nil {
		return inputs{}, unusable(err)
	}
	return inputs{config, request}, nil
}

// check says what makes a file unusable, once the engine has refused it: a config of any fault, and a request that is
// no JSON object. A request that is JSON but malformed is none of it: that decision is what the user wants to know.
func (in inputs) check(d policy.Decision) error {
	switch d.Reason {
	case policy.ReasonMalformedConfig:
		_, err := policy.NewJSON(in.config.Bytes)
		return unusable(configProblem(in.config, err))
	case policy.ReasonMalformedFrame:
		return in.requestProblem(document.SyntaxError)
	case policy.ReasonMalformedRequest:
		return in.requestProblem(document.HookSyntaxError)
	}
	return nil
}

func (in inputs) requestProblem(syntaxError func([]byte) (document.Place, string)) error {
	if place, problem := syntaxError(in.request.Bytes); problem != "" {
		return unusable(fmt.Errorf("%s: %s", in.request.At(place), problem))
	}
	return nil
}

// warnWithoutEngine says why every decision is the same.
func warnWithoutEngine(streams Streams) {
	if policy.Engine() == "none" {
		fmt.Fprintln(streams.Err, "kandev-policy: this build has no engine, so nothing is decided; see 'kandev-policy version'")
	}
}

// policyFlag adds --policy.
func policyFlag(command *cobra.Command, word *string) {
	command.Flags().StringVar(word, "policy", "",
		"the `policy`, if the config names none: injected_mcp or unattended_review")
	_ = command.RegisterFlagCompletionFunc("policy",
		cobra.FixedCompletions(policyWords, cobra.ShellCompDirectiveNoFileComp))
}

var policyWords = []string{"injected_mcp", "unattended_review"}

// readJudge reads a config for many decisions.
func readJudge(streams Streams, path, policyWord string) (*judge.Judge, error) {
	config, err := document.Read(path, streams.In)
	if err != nil {
		return nil, unusable(err)
	}
	if config, err = withPolicy(config, policyWord); err != nil {
		return nil, err
	}
	judge, err := judge.New(config.Bytes)
	if err != nil {
		return nil, unusable(configProblem(config, err))
	}
	return judge, nil
}

// withPolicy adds the policy of the command line to a config that names none. It must not contradict one that does.
func withPolicy(config document.Document, word string) (document.Document, error) {
	if word == "" {
		return config, nil
	}
	if !slices.Contains(policyWords, word) {
		return config, fmt.Errorf("--policy: %q is no policy; expected %s", word, strings.Join(policyWords, " or "))
	}
	if _, problem := document.SyntaxError(config.Bytes); problem != "" {
		return config, nil // which the engine refuses
	}
	members := document.ReadMembers(config.Bytes)
	switch named := !members.Null("policy"); {
	case named && members.Text("policy") == word, !named && word == policyWords[0]:
		return config, nil
	case named:
		return config, unusable(fmt.Errorf("%s: policy: the config is of another policy than --policy %s",
			config.At(document.Key(config.Bytes, "policy", false)), word))
	}
	// A null beside it would be a duplicate, which is the user's to resolve.
	open := bytes.IndexByte(config.Bytes, '{') + 1
	member := `"policy":"` + word + `"`
	if len(members) > 0 {
		member += ","
	}
	config.Bytes = slices.Concat(config.Bytes[:open], []byte(member), config.Bytes[open:])
	return config, nil
}

// readable finds a file that is missing before the first one is read.
func readable(paths []string) error {
	for _, path := range paths {
		if path == document.Stdin {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("%s: %w", document.Printable(path), document.Cause(err))
		}
		if info.IsDir() {
			return fmt.Errorf("%s: is a directory", document.Printable(path))
		}
	}
	return nil
}
