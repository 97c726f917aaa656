package bridge

import "strings"

// EnvURL is the environment variable that tells an agent's hook where to ask: a bridge's URL with a token in it.
const EnvURL = "KCAP_DAEMON_URL"

// ScrubEnv gives an environment ("KEY=value" each) without [EnvURL]: for an environment that is recorded with a session,
// shown, or handed to a process that is no agent of this bridge. The variable is removed in every spelling of its name
// that differs in case only, since some systems don't tell them apart. The argument is not changed.
func ScrubEnv(env []string) []string {
	kept := make([]string, 0, len(env)+1)
	for _, variable := range env {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.EqualFold(name, EnvURL) {
			kept = append(kept, variable)
		}
	}
	return kept
}
