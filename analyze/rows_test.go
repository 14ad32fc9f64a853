package analyze

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"leveret/analyze/export"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// knownCapture is a run of seven messages, each with another end, to two queues.
func knownCapture(t *testing.T) string {
	m := plan(1, 1)
	m.Topology.Queues = append(m.Topology.Queues, manifest.Queue{Name: `r, "two"`, Type: "classic"})
	m.Topology.Routes = append(m.Topology.Routes, manifest.Route{Exchange: "fan", Queues: []int{0, 1}, Known: true},
		manifest.Route{Exchange: "nowhere", RoutingKey: "n", Known: true})
	m.Consumers[0].Queues = []int{0, 1}
	m.Outcome.Queues = append(m.Outcome.Queues, manifest.QueueEnd{Queue: 1, Ready: ptr(int64(0)), Consumed: true, Drained: true})
	r := record(t, m)
	r.sendTo(0, 0, 2, 2*ms, 0, ms, ms+500_000) // 0 arrives, 1 is lost
	r.sendTo(0, 2, 1, 3*ms, 1)                 // 2 arrives twice at q, damaged at the other
	r.sendTo(0, 3, 1, 4*ms, 0)                 // 3 is nacked
	r.sendTo(0, 4, 1, 5*ms, 2)                 // 4 comes back
	r.sendTo(0, 5, 1, 6*ms, 0)                 // 5 is never confirmed, and arrives flagged
	r.w.Sends(&event.Sends{Producer: 0, First: 6, N: 1, Sent: event.None, Written: event.None, Due: []int64{epoch + 7*ms}, Size: 12})
	r.m.Outcome.NotSent = 1
	r.ack(0, 0, 3, 10*ms)
	r.settle(event.Nack, 0, 3, 1, 11*ms)
	r.settle(event.Return, 0, 4, 1, 12*ms)
	r.ack(0, 4, 1, 13*ms)
	r.receive(0, 0, 0, 20*ms, 0, 2, 2)
	r.deliver(0, 21*ms, event.Delivery{Queue: 1, Tag: 7, Seq: 2, Body: event.Corrupt, Size: 12, Due: event.None})
	r.deliver(0, 22*ms, event.Delivery{Queue: 0, Tag: 7, Seq: 5, Body: event.Intact, Size: 12, Due: event.None, Redelivered: true})
	r.deliver(0, 23*ms, event.Delivery{Queue: 0, Body: event.Unstamped, Size: 3, Due: event.None})
	r.ackAll(0, 24*ms)
	return r.close()
}

func exportedCSV(t *testing.T, s Select, dir string) (string, *Exported) {
	t.Helper()
	var b bytes.Buffer
	w, err := export.New("csv", &b, Columns(s.Rows))
	if err != nil {
		t.Fatal(err)
	}
	x, err := Export(t.Context(), []string{dir}, Options{Tmp: t.TempDir()}, s, w)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), x
}

// Rows of a capture that can be written down by hand: times are 1,800,000,000 s and what knownCapture says.
func TestRowsOfAKnownCapture(t *testing.T) {
	dir := knownCapture(t)
	for rows, want := range map[string][]string{
		RowsMessages: {
			"capture,tag,producer,seq,exchange,routing_key,size_bytes,due_ns,sent_ns,settlement,settled_ns,returned_ns,queue_name,consumer_capture,consumer,received_ns,redelivered,body,deliveries,duplicates,out_of_order,integrity,in_doubt_ns,republished_ns",
			`test,7,0,0,"",q,12,1800000000001000000,1800000000002000000,ack,1800000000010000000,,q,test,0,1800000000020000000,false,intact,1,0,false,delivered,,`,
			`test,7,0,1,"",q,12,1800000000001500000,1800000000002000000,ack,1800000000010000000,,q,,,,,,0,0,false,lost,,`,
			`test,7,0,2,fan,"",12,,1800000000003000000,ack,1800000000010000000,,q,test,0,1800000000020000000,false,intact,2,1,false,delivered,,`,
			`test,7,0,2,fan,"",12,,1800000000003000000,ack,1800000000010000000,,"r, ""two""",test,0,1800000000021000000,false,corrupt,1,0,false,corrupt,,`,
			`test,7,0,3,"",q,12,,1800000000004000000,nack,1800000000011000000,,q,,,,,,0,0,false,nacked,,`,
			`test,7,0,4,nowhere,n,12,,1800000000005000000,ack,1800000000013000000,1800000000012000000,,,,,,,0,0,false,returned,,`,
			`test,7,0,5,"",q,12,,1800000000006000000,,,,q,test,0,1800000000022000000,true,intact,1,0,false,delivered,,`,
			`test,7,0,6,"",q,12,1800000000007000000,,,,,q,,,,,,0,0,false,not_sent,,`,
			`,0,0,0,,,3,,,,,,q,test,0,1800000000023000000,false,unstamped,1,0,false,foreign,,`,
		},
		"sends": {
			"capture,tag,producer,seq,due_ns,sent_ns,size_bytes,route,exchange,routing_key",
			`test,7,0,0,1800000000001000000,1800000000002000000,12,0,"",q`,
			`test,7,0,1,1800000000001500000,1800000000002000000,12,0,"",q`,
			`test,7,0,2,,1800000000003000000,12,1,fan,""`,
			`test,7,0,3,,1800000000004000000,12,0,"",q`,
			`test,7,0,4,,1800000000005000000,12,2,nowhere,n`,
			`test,7,0,5,,1800000000006000000,12,0,"",q`,
			`test,7,0,6,1800000000007000000,,12,0,"",q`,
		},
		"settlements": {
			"capture,tag,producer,seq,kind,at_ns,frame_messages",
			"test,7,0,0,ack,1800000000010000000,3", "test,7,0,1,ack,1800000000010000000,3", "test,7,0,2,ack,1800000000010000000,3",
			"test,7,0,3,nack,1800000000011000000,1", "test,7,0,4,return,1800000000012000000,0", "test,7,0,4,ack,1800000000013000000,1",
		},
		"deliveries": {
			"capture,consumer,queue,queue_name,tag,producer,seq,received_ns,delivery_tag,due_ns,size_bytes,body,redelivered",
			"test,0,0,q,7,0,0,1800000000020000000,1,,12,intact,false",
			"test,0,0,q,7,0,2,1800000000020000000,2,,12,intact,false",
			"test,0,0,q,7,0,2,1800000000020000000,3,,12,intact,false",
			`test,0,1,"r, ""two""",7,0,2,1800000000021000000,4,,12,corrupt,false`,
			"test,0,0,q,7,0,5,1800000000022000000,5,,12,intact,true",
			"test,0,0,q,0,0,0,1800000000023000000,6,,3,unstamped,false",
		},
		"acks": {"capture,tag,consumer,at_ns,delivery_tag,messages,multiple", "test,7,0,1800000000024000000,6,6,true"},
	} {
		got, x := exportedCSV(t, All(rows), dir)
		if text := strings.Join(want, "\r\n") + "\r\n"; got != text {
			t.Errorf("%s:\n got %s\nwant %s", rows, got, text)
		}
		if x.Rows != int64(len(want)-1) || len(x.Incomplete) > 0 {
			t.Errorf("%s: %+v", rows, x)
		}
	}
}

// What is asked for, and nothing else; the numbers are the sequences of the rows.
func TestRowsThatAreAskedFor(t *testing.T) {
	dir := knownCapture(t)
	for _, c := range []struct {
		rows   string
		choose func(*Select)
		want   string
	}{
		{RowsMessages, func(s *Select) { s.Where = []string{"lost"} }, "1"},
		{RowsMessages, func(s *Select) { s.Where = []string{"duplicate", "nacked"} }, "2 3"},
		{RowsMessages, func(s *Select) { s.Where = []string{"corrupt"} }, "2"},
		{RowsMessages, func(s *Select) { s.Where = []string{"unconfirmed"} }, "5"},
		{RowsMessages, func(s *Select) { s.Where = []string{"returned"} }, "4"},
		{RowsMessages, func(s *Select) { s.Where = []string{"not_sent"} }, "6"},
		{RowsMessages, func(s *Select) { s.Where = []string{"foreign"} }, "0"},
		{RowsMessages, func(s *Select) { s.FirstSeq, s.LastSeq = 2, 3 }, "2 2 3"},
		{RowsMessages, func(s *Select) { s.Producer = 1 }, ""},
		{RowsMessages, func(s *Select) { s.Producer = 0; s.Where = []string{"foreign"} }, ""}, // nobody's
		{RowsMessages, func(s *Select) { s.FromNS, s.ToNS = 1_500_000, 4*ms }, "1 2 2"},       // 1 is due at 1.5 ms, 3 sent at 4 ms
		{"sends", func(s *Select) { s.FromNS, s.ToNS = 2*ms, 4*ms }, "0 1 2"},
		{"sends", func(s *Select) { s.FromNS = 7 * ms }, "6"}, // by its due time
		{"settlements", func(s *Select) { s.FirstSeq, s.LastSeq, s.Producer = 4, 4, 0 }, "4 4"},
		{"deliveries", func(s *Select) { s.LastSeq = 0 }, "0 0"},
	} {
		s := All(c.rows)
		c.choose(&s)
		rows, _ := exported(t, s, Options{}, dir)
		var got []string
		for _, r := range rows.rows {
			got = append(got, fmt.Sprint(r["seq"]))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %v, want %s", s, got, c.want)
		}
	}
}

func TestRowsThatDoNotExist(t *testing.T) {
	for want, s := range map[string]Select{
		"--rows=letters: is none of messages, sends": {Rows: "letters"},
		"--where: is for --rows=messages":            {Rows: "sends", Where: []string{"lost"}},
		"--where=vanished: is none of":               {Rows: RowsMessages, Where: []string{"vanished"}},
		"--producer: acks have none":                 {Rows: "acks", Producer: 1},
		"--sequence: writes have none":               {Rows: "writes", Producer: -1, FirstSeq: 1, LastSeq: 2},
	} {
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", s, err, want)
		}
	}
}

// Every whole batch is exported, what is missing is said, and no message is called lost for a row that is missing.
func TestRowsOfDamagedCaptures(t *testing.T) {
	dir, _ := smallCapture(t, "none", false)
	whole := map[string]int{}
	for _, kind := range RowKinds() {
		rows, x := exported(t, All(kind), Options{}, dir)
		if whole[kind] = len(rows.rows); len(x.Incomplete) > 0 {
			t.Fatalf("%s: %v", kind, x.Incomplete)
		}
	}
	cut := damaged(t, dir, func(name string, b []byte) []byte {
		if name == "deliveries-00.arrow" {
			return b[:len(b)*2/3]
		}
		return b
	})
	rows, x := exported(t, All("deliveries"), Options{}, cut)
	if n := len(rows.rows); n == 0 || n >= 300 || !strings.Contains(strings.Join(x.Incomplete, "\n"), fmt.Sprintf("deliveries: %d of 300 rows", n)) {
		t.Errorf("%d deliveries of a file that was cut: %v", n, x.Incomplete)
	}
	received := 0
	messages, x := exported(t, All(RowsMessages), Options{}, cut)
	for _, r := range messages.rows {
		switch r["integrity"] {
		case "delivered":
			received++
		case "not_judged":
		default:
			t.Fatalf("a message whose delivery was cut off: %v", r)
		}
	}
	if received != len(rows.rows) || len(messages.rows) != 300 || len(x.Incomplete) == 0 {
		t.Errorf("%d messages, %d of them received, %d deliveries: %v", len(messages.rows), received, len(rows.rows), x.Incomplete)
	}
	g := rand.New(rand.NewPCG(5, 8))
	names := files(t, dir)
	for range 60 {
		chosen, flip := names[g.IntN(len(names))], g.IntN(2) == 0
		hurt := damaged(t, dir, func(name string, b []byte) []byte {
			switch {
			case name != chosen || len(b) == 0:
			case flip:
				b[g.IntN(len(b))] ^= 1 << g.IntN(8)
			default:
				return b[:g.IntN(len(b))]
			}
			return b
		})
		for kind, n := range whole {
			s := All(kind)
			rows, x := exported(t, s, Options{}, hurt)
			if len(x.Incomplete) == 0 && len(rows.rows) != n {
				t.Errorf("%s damaged: %d of %d rows of %s, and nothing is said", chosen, len(rows.rows), n, kind)
			}
			for _, r := range rows.rows {
				if kind == RowsMessages && r["integrity"] == "lost" {
					t.Fatalf("%s damaged: %v", chosen, r)
				}
			}
		}
	}
}
