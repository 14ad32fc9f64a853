package manifest

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A thousand keys of a fanout exchange reach a thousand queues each: a million numbers that are written once. Whatever stands between
// them comes back as it was.
func TestRoutesThatReachTheSame(t *testing.T) {
	all := make([]int, 1000)
	for i := range all {
		all[i] = i
	}
	m := &Manifest{FormatVersion: FormatVersion}
	add := func(known bool, queues []int) {
		m.Topology.Routes = append(m.Topology.Routes, Route{Exchange: "x", RoutingKey: "k", Queues: queues, Known: known})
	}
	for range 1000 {
		add(true, all)
	}
	add(true, slices.Clone(all))
	add(false, all)
	add(true, all[:31])
	add(true, all[:31])
	add(true, all[:32])
	add(true, all[:32])
	add(true, all)
	add(true, []int{})
	before := slices.Clone(m.Topology.Routes)
	b, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(m.Topology.Routes, before) {
		t.Error("the routes themselves were changed")
	}
	if n := bytes.Count(b, []byte("\n          999")); n != 3 || len(b) > 1<<18 {
		t.Errorf("%d bytes, in which the last queue is named %d times; want 3: in the first, in the one that is not known, and behind the shorter ones", len(b), n)
	}
	got, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Topology.Routes, before) {
		t.Error("the routes are not what was written")
	}
}

func TestRoutesThatReachNothingKnown(t *testing.T) {
	for _, as := range []string{"-1", "1", "2", "0"} {
		_, err := Decode([]byte(`{"format_version":1,"topology":{"routes":[{"known":false},{"queues_as":` + as + `}]}}`))
		if err == nil || !strings.Contains(err.Error(), "damaged: route 1 is to reach the queues of route "+as) {
			t.Errorf("%s: %v", as, err)
		}
	}
}

func TestTextThatNobodyWouldRead(t *testing.T) {
	_, err := Encode(&Manifest{Notes: []string{strings.Repeat("x", MaxBytes)}})
	if err == nil || !strings.Contains(err.Error(), "at most 64 MB") {
		t.Error(err)
	}
}
