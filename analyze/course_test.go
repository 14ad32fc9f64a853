package analyze

import (
	"fmt"
	"slices"
	"testing"

	"leveret/analyze/result"
)

// An alarm blocks six connections, one a millisecond later than the other, and another one three; what stands between them stays. Few
// are told one by one.
func TestManyBlockedConnectionsAreOneSpan(t *testing.T) {
	var spans []result.Span
	blocked := func(from, to, connection int64) {
		spans = append(spans, result.Span{FromNS: from * ms, ToNS: to * ms, Kind: "blocked", Text: fmt.Sprintf("connection %d: low on memory", connection)})
	}
	for i := range int64(6) {
		blocked(100+i, 200-i, i)
	}
	lost := result.Span{FromNS: 150 * ms, ToNS: 900 * ms, Kind: "lost", Text: "connection 7: reset"}
	spans = append(spans, lost)
	if got := joinBlocked(spans); !slices.Equal(got, spans) {
		t.Errorf("few: %+v", got)
	}
	blocked(200, 210, 8) // the first of them is blocked until then
	blocked(300, 310, 1)
	blocked(310, 330, 2)
	blocked(331, 340, 3)
	want := []result.Span{
		{FromNS: 100 * ms, ToNS: 210 * ms, Kind: "blocked", Text: "connections: low on memory"}, lost,
		{FromNS: 300 * ms, ToNS: 330 * ms, Kind: "blocked", Text: "connections: low on memory"},
		{FromNS: 331 * ms, ToNS: 340 * ms, Kind: "blocked", Text: "connection 3: low on memory"},
	}
	if got := joinBlocked(spans); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}
