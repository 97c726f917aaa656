package main

import (
	"github.com/kandev/kandev-policy/go/bench/baseline"
	"github.com/kandev/kandev-policy/go/policy"
)

// The names of what is measured in this process; `/` and the name of a size may follow.
const (
	baselineJSON  = "baseline JSON"
	decideFrame   = "DecideFrame"
	decideJSON    = "DecideJSON"
	baselineRules = "baseline rules"
	decideRequest = "Decide"
	emptyCgoCall  = "empty cgo call"
)

// emptyCall crosses to C and back, which every decision through cgo pays for; nil without cgo.
var emptyCall func()

// decisions are what is measured in this process: each decides the frame of that number.
func decisions(p *policy.Policy) (map[string]func(number int) bool, error) {
	all := map[string]func(int) bool{}
	for _, s := range sizes {
		frames := frames(s)
		all[baselineJSON+"/"+s.name] = func(number int) bool {
			return baseline.DecideJSON(frames[number], baselineHost).Decision == "select"
		}
		all[decideFrame+"/"+s.name] = func(number int) bool {
			return p.DecideFrame(frames[number]).Kind == policy.Select
		}
		all[decideJSON+"/"+s.name] = func(number int) bool {
			return policy.DecideJSON(frames[number], hostConfig).Kind == policy.Select
		}
	}
	var plain [distinct]*baseline.Frame
	var requests [distinct]policy.Request
	for number, f := range frames(sizes[0]) {
		var err error
		if plain[number], requests[number], err = decoded(f); err != nil {
			return nil, err
		}
	}
	all[baselineRules] = func(number int) bool {
		return baseline.Decide(plain[number], baselineHost).Decision == "select"
	}
	all[decideRequest] = func(number int) bool { return p.Decide(requests[number]).Kind == policy.Select }
	if emptyCall != nil {
		all[emptyCgoCall] = func(int) bool { emptyCall(); return true }
	}
	return all, nil
}
