package suite

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// change makes of a row what the user wants of it.
func (s *Suite) change(r *Row, c Changes) error {
	factor := c.Scale
	if factor == 0 {
		factor = 1
	}
	if len(r.Table.Scale) > 0 {
		factor = r.fit(factor, &c)
		if err := s.scale(r, factor); err != nil {
			return err
		}
	}
	for _, o := range r.parts() {
		warmup := s.Warmup
		text, timed := o.value("time")
		length, err := ParseSeconds(text)
		if !timed || err != nil {
			continue
		}
		if c.Time > 0 && length > 0 && length != c.Time {
			r.Notes = append(r.Notes, fmt.Sprintf("%s s a run instead of %s s (--time)", secondsText(c.Time), secondsText(length)))
			warmup = time.Duration(float64(warmup) * float64(c.Time) / float64(length))
			length = c.Time
		}
		more := Options{{Name: "time", Values: []string{secondsText(length + warmup)}, Line: r.Line}}
		if warmup > 0 {
			more = append(more, Option{Name: "warmup", Values: []string{secondsText(warmup)}, Line: r.Line})
		}
		*o = o.with(more)
	}
	return nil
}

func secondsText(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// parts are the options of each process of the row.
func (r *Row) parts() []*Options {
	if len(r.Phases) == 0 {
		return []*Options{&r.Options}
	}
	var all []*Options
	for i := range r.Phases {
		all = append(all, &r.Phases[i].Options)
	}
	return all
}

// Descriptors of this process, and connections of the broker, for everything but the connections of a run.
const (
	reserved       = 128
	reservedBroker = 16
)

// fit lowers the factor until the row's connections are what the system and, as far as it tells, the broker allow.
func (r *Row) fit(factor float64, c *Changes) float64 {
	if !r.Table.FitDescriptors {
		return factor
	}
	most, why := math.Inf(1), ""
	if c.Descriptors > 0 {
		most, why = float64(max(c.Descriptors-reserved, 1)), fmt.Sprintf("this system allows a process %d file descriptors (ulimit -n)", c.Descriptors)
	}
	if n, told := c.Accepts[r.Target]; told && float64(n-reservedBroker) < most {
		most, why = float64(max(n-reservedBroker, 1)), fmt.Sprintf("a node of the broker takes %d more (its limit of file descriptors)", n)
	}
	connections := 0.0
	for name, otherwise := range map[string]string{"producers": "1", "consumers": "1"} {
		text, given := r.Options.value(name)
		if !given {
			text = otherwise
		}
		n, _ := strconv.ParseFloat(text, 64)
		if slices.Contains(r.Table.Scale, name) {
			n *= factor
		}
		connections += n
	}
	if connections <= most {
		return factor
	}
	r.Notes = append(r.Notes, fmt.Sprintf("scaled down to %.0f connections: %s", most, why))
	return factor * most / connections
}

// scale multiplies the options that the table names.
func (s *Suite) scale(r *Row, factor float64) error {
	if factor == 1 {
		return nil
	}
	r.Notes = append(r.Notes, "scaled by "+strconv.FormatFloat(factor, 'g', 4, 64)+": "+strings.Join(r.Table.Scale, ", "))
	for _, o := range r.parts() {
		for i := range *o {
			x := &(*o)[i]
			if !slices.Contains(r.Table.Scale, x.Name) {
				continue
			}
			n, err := strconv.ParseFloat(strings.Join(x.Values, " "), 64)
			if err != nil {
				return &Error{File: s.File, Line: x.Line, What: fmt.Sprintf("scale: %s=%s is no number that can be multiplied", x.Name, strings.Join(x.Values, " "))}
			}
			*x = Option{x.Name, []string{scaled(n, factor)}, x.Line}
		}
	}
	for i, a := range r.Table.Axes {
		if value, ok := r.Options.value(a.Option); ok && slices.Contains(r.Table.Scale, a.Option) && value != r.Labels[i] {
			r.Labels[i] = value + " (of " + r.Labels[i] + ")"
		}
	}
	r.Setup.Queues, r.Setup.RemoveQueues = scaledQueues(r.Setup.Queues, factor), scaledQueues(r.Setup.RemoveQueues, factor)
	return nil
}

func scaledQueues(all []Queues, factor float64) []Queues {
	all = slices.Clone(all)
	for i := range all {
		if q := &all[i]; q.Scaled && q.To > 0 {
			q.To = q.From - 1 + int(max(1, math.Floor(float64(q.To-q.From+1)*factor+1e-9)))
		}
	}
	return all
}

func scaled(n, factor float64) string {
	return strconv.FormatFloat(math.Copysign(max(1, math.Floor(math.Abs(n)*factor+1e-9)), n), 'f', -1, 64)
}
