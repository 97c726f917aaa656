package policy

import (
	"encoding/json"
	"fmt"
)

// Explanation is a decision with the way to it. Like the decision it holds nothing secret.
type Explanation struct {
	// Decision is the one that [DecideJSON] gives.
	Decision Decision
	// Detail is a short sentence for people. It is fixed for a reason.
	Detail string
	// Trace is the steps in their order, up to the one that the decision was made at.
	Trace []Step
	// Raw is the explanation's JSON, byte for byte as the C ABI gives it.
	Raw json.RawMessage
}

// Step is one step of an [Explanation].
type Step struct {
	// Step is its name, such as "identity".
	Step string
	// Outcome is "passed" or "stopped".
	Outcome string
	// Facts are safe things to say about it, such as "source": "title" for where the tool's identity was taken from, and
	// the "reason" where it stopped. nil if there are none.
	Facts map[string]string
}

// MarshalJSON gives Raw, or for an explanation that the engine has not made the decision's JSON.
func (e Explanation) MarshalJSON() ([]byte, error) {
	if len(e.Raw) == 0 {
		return e.Decision.MarshalJSON()
	}
	return e.Raw, nil
}

// String gives the JSON.
func (e Explanation) String() string {
	b, _ := e.MarshalJSON() // which never fails
	return string(b)
}

// ExplainJSON decides as [DecideJSON] does, and says why. Like there, a bad frame or config is no error but a decision.
// The error is for an explanation that can't be had, and wraps [ErrNoEngine] or [ErrInternal]; the Decision is valid even
// then: it is the Ask (or Deny) that DecideJSON would give.
func ExplainJSON(frame, config []byte) (Explanation, error) {
	if err := CheckEngine(); err != nil {
		return Explanation{Decision: refusal(isUnattended(config), ReasonEngineUnavailable)}, err
	}
	raw := oneShot(crossing(frame), crossing(config), true)
	var out result
	err := json.Unmarshal(raw, &out)
	decision, ok := out.decision()
	if err != nil || !ok {
		e := Explanation{Decision: refusal(isUnattended(config), ReasonInternalError)}
		return e, fmt.Errorf("%w: no usable result", ErrInternal)
	}
	e := Explanation{Decision: decision, Detail: out.Detail, Raw: raw}
	for _, facts := range out.Trace {
		step := Step{Step: facts["step"], Outcome: facts["outcome"]}
		delete(facts, "step")
		delete(facts, "outcome")
		if len(facts) > 0 {
			step.Facts = facts
		}
		e.Trace = append(e.Trace, step)
	}
	return e, nil
}
