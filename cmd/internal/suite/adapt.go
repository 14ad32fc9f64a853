package suite

import (
	"context"
	"fmt"
	"strconv"
)

// adapt runs what a row of an adaptive table asks for: the search, or a run without a limit, and then the fractions of what was
// found. Everything that is decided follows from the results that are kept, so that it goes on where it stopped.
func (r *Runner) adapt(ctx context.Context, row *Row) error {
	number := 0
	option, found := "rate", 0.0
	if s := row.Table.Search; s != nil {
		option = s.Option
		value, err := r.search(ctx, row, &number)
		if err != nil || value == 0 {
			return err
		}
		found = value
		r.Progress.Line(fmt.Sprintf("  %s: highest %s that kept the bounds: %s", row.Title(), option, plain(found)))
	} else {
		value, err := r.maximum(ctx, row, &number)
		if err != nil || value == 0 {
			return err
		}
		found = value
	}
	for _, f := range row.Table.Fractions {
		run := r.planned(row, option, max(1, float64(int(found*f))), f, &number)
		if err := r.one(ctx, run); err != nil {
			return err
		}
	}
	return nil
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// planned is the run of a row with this number: the one of the record, where it is there already.
func (r *Runner) planned(row *Row, option string, value, fraction float64, number *int) *Run {
	*number++
	run := newProbe(row, option, value, *number)
	run.Fraction = fraction
	if there := r.Record.run(run.ID); there != nil {
		there.row = row
		return there
	}
	r.Record.Runs = append(r.Record.Runs, run)
	return run
}

// search finds the highest value that keeps the bounds; 0 where none does, or a run failed.
func (r *Runner) search(ctx context.Context, row *Row, number *int) (float64, error) {
	s := row.Table.Search
	var before []tried
	for {
		value, done := s.next(before)
		if done {
			return best(before), nil
		}
		run := r.planned(row, s.Option, value, 0, number)
		if err := r.one(ctx, run); err != nil {
			return 0, err
		}
		if run.State != Done {
			return 0, nil
		}
		results, err := resultOf(r.Dir, run)
		if err != nil || len(results) == 0 {
			return 0, err
		}
		kept, why := s.keeps(results[0])
		if run.Reason != why { // said once, and kept
			run.Reason = why
			if err := r.Record.Save(r.Dir); err != nil {
				return 0, err
			}
			r.Progress.Line("  not kept: " + why)
		}
		before = append(before, tried{value, kept})
	}
}

// maximum runs a row without a limit, and gives the mean of what was sent and received in a second, per producer; 0 where the run
// failed.
func (r *Runner) maximum(ctx context.Context, row *Row, number *int) (float64, error) {
	run := r.planned(row, "rate", -1, 0, number)
	if err := r.one(ctx, run); err != nil || run.State != Done {
		return 0, err
	}
	results, err := resultOf(r.Dir, run)
	if err != nil || len(results) == 0 {
		return 0, err
	}
	x := results[0]
	sum, n := 0.0, 0.0
	if x.Rates.Sent != nil {
		sum, n = sum+*x.Rates.Sent, n+1
	}
	if x.Rates.Received != nil && x.Config.FanOut > 0 {
		sum, n = sum+*x.Rates.Received/float64(x.Config.FanOut), n+1
	}
	if n == 0 || x.Config.Producers == 0 {
		return 0, nil
	}
	return sum / n / float64(x.Config.Producers), nil
}
