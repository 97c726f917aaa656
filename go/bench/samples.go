package main

import (
	"fmt"
	"slices"
	"time"
)

// samples are what the probes have measured, round by round.
type samples struct {
	names  []string
	probes map[string]probe
	ns     map[string][]float64
}

func newSamples() *samples { return &samples{probes: map[string]probe{}, ns: map[string][]float64{}} }

func (s *samples) add(name string, p probe) {
	s.names = append(s.names, name)
	s.probes[name] = p
}

// round measures everything once, one right after the other: a machine that slows down slows all of them.
func (s *samples) round(least time.Duration) error {
	for _, name := range s.names {
		ns, err := s.probes[name](least)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.ns[name] = append(s.ns[name], ns)
	}
	return nil
}

// of gives the median over the rounds; false if it was not measured.
func (s *samples) of(name string) (float64, bool) {
	return median(s.ns[name])
}

// ratio is the median of each round's ratio of two.
func (s *samples) ratio(a, b string) (float64, bool) {
	return s.each(a, b, func(a, b float64) float64 { return a / b })
}

func (s *samples) each(a, b string, of func(a, b float64) float64) (float64, bool) {
	if len(s.ns[a]) != len(s.ns[b]) {
		return 0, false
	}
	values := make([]float64, len(s.ns[a]))
	for round := range values {
		values[round] = of(s.ns[a][round], s.ns[b][round])
	}
	return median(values)
}

func median(values []float64) (float64, bool) {
	if len(values) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half], true
	}
	return (sorted[half-1] + sorted[half]) / 2, true
}
