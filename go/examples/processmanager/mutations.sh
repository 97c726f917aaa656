#!/usr/bin/env bash
# Breaks the example host in one way at a time, on a copy, and shows which acceptance tests notice it.
#
#   mutations.sh [name ...]      default: all
#
# Exit status 0: each mutation is noticed by the criterion that it breaks.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

pristine=$work/pristine copy=$work/copy
mkdir -p "$pristine/go/examples" "$pristine/tests"
cp -R "$top/go/go.mod" "$top/go/policy" "$pristine/go/"
[ ! -f "$top/go/go.sum" ] || cp "$top/go/go.sum" "$pristine/go/"
cp -R "$here" "$pristine/go/examples/"
cp -R "$top/tests/vectors" "$pristine/tests/"

failed_tests() { # runs the acceptance tests of the copy; prints the failed ones, top level only
	(cd "$copy/go/examples/processmanager" && go test -count=1 -timeout 10m -run '^TestAC' ./acceptance ./process 2>&1) >"$work/log" || true
	if grep -q -e 'build failed' -e 'setup failed' "$work/log"; then
		cat "$work/log" >&2
		echo "the mutation does not compile" >&2
		return 1
	fi
	sed -n 's/^--- FAIL: \(TestAC[A-Za-z0-9_]*\).*/\1/p' "$work/log" | sort -u
}

fresh() {
	rm -rf "$copy"
	cp -R "$pristine" "$copy"
}

bad=0
# mutate NAME CRITERION FILE PERL WHAT: the edit has to change the file, and a test of the criterion has to fail.
mutate() {
	local name=$1 criterion=$2 file=$3 edit=$4 what=$5
	[ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " == *" $name "* ]] || return 0
	fresh
	local target=$copy/go/examples/processmanager/$file
	perl -0777 -i -pe "$edit" "$target"
	if cmp -s "$target" "$here/$file"; then
		echo "$name: the edit of $file applies no more" >&2
		bad=1
		return 0
	fi
	printf '%s: %s\n' "$name" "$what"
	local failed
	failed=$(failed_tests)
	printf '%s\n' "${failed:-none}" | sed 's/^/    fails: /'
	if ! grep -q "^TestAC${criterion}_" <<<"$failed"; then
		echo "    NOT NOTICED by a test of ${criterion/_/.}"
		bad=1
	fi
}

wanted=("$@")
fresh
printf 'unchanged\n'
failed=$(failed_tests)
printf '%s\n' "${failed:-none}" | sed 's/^/    fails: /'
grep -q '^ok.*acceptance' "$work/log" || { cat "$work/log"; exit 1; }

policy=process/manager_permission_policy.go
manager=process/manager.go
client=acpclient/permission.go

mutate branch 001_1 $manager \
	's/\tif resp, ok := m\.approveInjected\(req\); ok \{\n.*?\n\t\}\n//s' \
	'the branch is taken out'
mutate title 001_3 $policy \
	's/(\td := m\.decide\(req\)\n)/$1\tif strings.HasPrefix(req.Title, "mcp__kandev__") {\n\t\treturn acpclient.PermissionResponse{OptionID: req.Options[0].OptionID}, true\n\t}\n/; s/("log\/slog"\n)/$1\t"strings"\n/' \
	'a title alone approves'
mutate subject 001_3 $client \
	's/if subject\.Type != "tool_call"/if false/' \
	'a call is taken out of a subject of any type'
mutate both 001_3 $client \
	's/\(p\.ToolCall == nil\) == \(p\.Subject == nil\)/p.ToolCall == nil \&\& p.Subject == nil/' \
	'a frame with both toolCall and subject counts as one of them'
mutate malformed 001_3 $policy \
	's/if req\.Malformed/if false/' \
	'the policy is asked about a frame that is malformed'
mutate provenance 001_4 $policy \
	's/InjectedKandevMCP: cfg\.InjectedKandevMCP/InjectedKandevMCP: true/' \
	'provenance is dropped: every config counts as injected'
mutate evidence 001_4 $policy \
	's/if req\.Params != nil/if false/; s/ToolMeta: req\.ToolMeta/ToolMeta: nil/' \
	'evidence is dropped: the metadata does not reach the policy'
mutate entries 001_4 $policy \
	's/(servers = append\()/if s.Name == config.KandevServer \&\& s.URL != cfg.McpServers[0].URL {\n\t\t\tcontinue\n\t\t}\n\t\t$1/' \
	'other entries of the reserved name are hidden from the policy'
mutate reached 001_4 $policy \
	's/if !m\.injected\.Reached\(\)/if false/' \
	'the host no longer asks whether the agent ever reached its server'
mutate injector 001_4 config/config.go \
	's/if server\.Name != KandevServer/if true/' \
	'the injector keeps a user'"'"'s entry of the reserved name'
mutate widest 001_5 $policy \
	's/OptionID: d\.OptionID/OptionID: req.Options[len(req.Options)-2].OptionID/' \
	'another option than the decided one is answered'
mutate fallback 001_6 $policy \
	's/if d\.Kind != policy\.Select \{/if d.Reason == policy.ReasonNoAllowOption {\n\t\treturn autoApprovePermission(req), true\n\t}\n\tif d.Kind != policy.Select {/' \
	'without an allow option the first one is taken'
mutate empty 001_6 $client \
	's/if len\(params\.Options\) == 0/if params.Options == nil/' \
	'an empty list of options is not cancelled'
mutate record 001_7 $policy \
	's/"tool", d\.Tool/"tool", req.Title/' \
	'the record has the title for the tool'
mutate events 001_7 $manager \
	's/(func \(m \*Manager\) handleUpdate.*?\{\n)/$1\tif u.Kind == "tool_call_update" {\n\t\treturn\n\t}\n/' \
	'the result of a call is not announced'
mutate order 001_8 $manager \
	's/(\tif m\.cfg\.AutoApprovePermissions \{.*?\n\t\}\n)(\tif resp, ok := .*?\n\t\}\n)/$2$1/s' \
	'the branch stands in front of blanket approval'
mutate dialect 001_8 $policy \
	's/AgentType:         cfg\.AgentType/AgentType:         "claude-acp"/' \
	'every agent is taken for Claude'

[ $bad -eq 0 ] && echo "each mutation is noticed by the criterion that it breaks"
exit $bad
