package analyze

import (
	"fmt"
	"slices"
	"testing"

	"leveret/capture/event"
)

// A stream gives each subscription its own copy, from where it begins on: a row for each of them.
func TestRowsOfAStream(t *testing.T) {
	m := plan(1, 2)
	m.Topology.Queues[0].Type = "stream"
	r := record(t, m)
	r.send(0, 0, 4, ms)
	r.ack(0, 0, 4, 2*ms)
	r.receive(0, 0, 0, 3*ms, 0, 1, 3) // 2 is lost on the way to this one
	r.receive(1, 0, 0, 4*ms, 2, 3)    // begins at 2
	r.ackAll(0, 5*ms)
	r.ackAll(1, 5*ms)
	rows, _ := exported(t, All(RowsMessages), Options{}, r.close())
	var got []string
	for _, r := range rows.rows {
		got = append(got, fmt.Sprint(r["seq"], " ", r["consumer"], " ", r["integrity"]))
	}
	want := []string{"0 0 delivered", "0 <nil> before_subscription", "1 0 delivered", "1 <nil> before_subscription", "2 <nil> lost", "2 1 delivered", "3 0 delivered", "3 1 delivered"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// Producers and consumers recorded apart are one run: a row names the captures of both, and alone each says what it can.
func TestRowsOfTwoCaptures(t *testing.T) {
	p, c := plan(1, 0), plan(0, 1)
	p.ID, c.ID, c.Tag = "producers", "consumers", 8
	out := record(t, p)
	out.send(0, 0, 3, ms)
	out.ack(0, 0, 3, 2*ms)
	in := record(t, c)
	for seq := range uint64(2) {
		in.deliver(0, 3*ms, event.Delivery{Tag: 7, Seq: seq, Body: event.Intact, Size: 12, Due: event.None})
	}
	in.ackAll(0, 4*ms)
	a, b := out.close(), in.close()
	for _, x := range []struct {
		dirs []string
		want []string
	}{
		{[]string{a, b}, []string{"producers 7 0 consumers 0 delivered", "producers 7 1 consumers 0 delivered", "producers 7 2 <nil> <nil> lost"}},
		{[]string{b, a}, []string{"producers 7 0 consumers 0 delivered", "producers 7 1 consumers 0 delivered", "producers 7 2 <nil> <nil> lost"}},
		{[]string{b}, []string{"<nil> 7 0 consumers 0 foreign", "<nil> 7 1 consumers 0 foreign"}},
	} {
		rows, _ := exported(t, All(RowsMessages), Options{}, x.dirs...)
		var got []string
		for _, r := range rows.rows {
			got = append(got, fmt.Sprint(r["capture"], " ", r["tag"], " ", r["seq"], " ", r["consumer_capture"], " ", r["consumer"], " ", r["integrity"]))
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%q\nwant %q", got, x.want)
		}
	}
}
