package main

import (
	"bufio"
	"encoding/json"
	"strings"
	"testing"

	"leveret/analyze/result"
)

// everyMessageIsAccountedFor holds the counts against each other, and against the exported rows: one a message, as there is one queue.
func everyMessageIsAccountedFor(t *testing.T, dir string, r *result.Result) {
	t.Helper()
	c, doubt := &r.Counts, r.Disruption.Doubt
	if n := doubt.Confirmed + doubt.Refused + doubt.Received + doubt.Missing + doubt.Unknown; n != doubt.Messages {
		t.Errorf("%d of %d messages in doubt are accounted for: %+v", n, doubt.Messages, doubt)
	}
	fates := map[string]int64{}
	var sum result.Counts
	var inDoubt, again, refused int64
	eachRow(t, dir, nil, func(m *exportedMessage) {
		fates[m.Integrity]++
		sum.Duplicates += m.Duplicates
		if m.Deliveries > 0 {
			sum.ReceivedUnique++
		}
		if m.InDoubt != nil {
			inDoubt++
			if m.Settlement == "nack" && m.Integrity == "delivered" {
				refused++
			}
		}
		if m.Republished != nil {
			again++
		}
	})
	// What was refused may have arrived nevertheless: of two copies one was taken.
	if n := c.ReceivedUnique + c.Missing + c.QueuedAtStop + c.DiscardedAtStop + fates["nacked"]; n != c.Sent || fates["nacked"] > c.Nacked {
		t.Errorf("%d of %d messages are accounted for: %+v, rows %v", n, c.Sent, *c, fates)
	}
	total := int64(0)
	for _, n := range fates {
		total += n
	}
	if total != c.Sent || fates["delivered"] != c.ReceivedUnique || fates["removed_by_rule"] != c.RemovedByRule || fates["lost"] != c.Lost || sum.Duplicates != c.Duplicates || sum.ReceivedUnique != c.ReceivedUnique {
		t.Errorf("rows %v, %+v; counts %+v", fates, sum, *c)
	}
	if inDoubt != doubt.Messages || refused != doubt.RefusedReceived || again != doubt.Republished {
		t.Errorf("rows: %d in doubt, %d sent again; %+v", inDoubt, again, doubt)
	}
	listed := int64(0)
	eachRow(t, dir, []string{"--where", "in_doubt"}, func(m *exportedMessage) { listed++ })
	if listed != doubt.Messages {
		t.Errorf("%d of %d messages in doubt are listed", listed, doubt.Messages)
	}
}

type exportedMessage struct {
	Deliveries  int64  `json:"deliveries"`
	Duplicates  int64  `json:"duplicates"`
	Integrity   string `json:"integrity"`
	Settlement  string `json:"settlement"`
	InDoubt     *int64 `json:"in_doubt_ns"`
	Republished *int64 `json:"republished_ns"`
}

func eachRow(t *testing.T, dir string, options []string, f func(*exportedMessage)) {
	t.Helper()
	code, stdout, stderr := invoke(t, append([]string{"export", dir, "--format", "jsonl", "--quiet"}, options...)...)
	if code != exitOK {
		t.Fatalf("export: exit %d\n%s", code, stderr)
	}
	for lines := bufio.NewScanner(strings.NewReader(stdout)); lines.Scan(); {
		var m exportedMessage
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		f(&m)
	}
}
