package suite

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"leveret/analyze/result"
)

// Labelled is a result with the label of its row.
type Labelled struct {
	Label  string
	Result *result.Result
}

// Labelled are the results of a table's rows, for charts over several runs: repeats of a row have one label. Of a run of several
// parts it is the joint one. note says what the labels are where they don't say it themselves.
func (r *Record) Labelled(t *Table, rows []*Row, from Source) (all []Labelled, note string, err error) {
	var of []*Row
	for _, row := range rows {
		if row.Table == t {
			of = append(of, row)
		}
	}
	lines, err := r.lines(of, from)
	if err != nil {
		return nil, "", err
	}
	labels, note := labelsOf(t, of)
	for _, l := range lines {
		label := labels[l.row]
		if p := l.probe(); p != 0 {
			label = fmt.Sprintf("%s, %s", label, plain(p))
		}
		for _, results := range l.results {
			all = append(all, Labelled{label, results[0]})
		}
	}
	return all, note, nil
}

// longestLabel is what charts have room for.
const longestLabel = 28

// labelsOf names rows by what they differ in. Where there is no room for the names of the axes, the values alone stand there, and note
// has the names.
func labelsOf(t *Table, rows []*Row) (labels map[*Row]string, note string) {
	labels = map[*Row]string{}
	var axes []int
	for i := range t.Axes {
		for _, row := range rows {
			if row.Labels[i] != rows[0].Labels[i] {
				axes = append(axes, i)
				break
			}
		}
	}
	longest := 0
	for _, row := range rows {
		var parts []string
		for _, i := range axes {
			parts = append(parts, t.Axes[i].Name+" "+row.Labels[i])
		}
		labels[row] = strings.Join(parts, ", ")
		if row.Name != "" || len(parts) == 0 {
			labels[row] = row.Title()
		}
		longest = max(longest, utf8.RuneCountInString(labels[row]))
	}
	if longest <= longestLabel || len(axes) == 0 {
		return labels, ""
	}
	var names []string
	for _, i := range axes {
		names = append(names, t.Axes[i].Name)
	}
	for _, row := range rows {
		if row.Name != "" {
			continue
		}
		var values []string
		for _, i := range axes {
			values = append(values, row.Labels[i])
		}
		labels[row] = strings.Join(values, " / ")
	}
	return labels, "each run is named by " + strings.Join(names, " / ")
}
