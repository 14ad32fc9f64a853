package reports

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"leveret/analyze/result"
)

// No result makes a report panic, write wider lines than asked for, or write JSON that does not read back.
func FuzzReports(f *testing.F) {
	f.Add([]byte{}, 0, 0)
	f.Add([]byte("\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02"), 60, -1)
	f.Add([]byte("\x01\x03\x05\x07\x09\x0b\x0d\x0f\x11\x13\x15\x17\x19\x1b\x1d\x1f\x21\x23"), 100, 3)
	f.Add([]byte("\x02\x05\x03\x06\x08\x01"), 80, 24)
	f.Fuzz(func(t *testing.T, data []byte, width, intervals int) {
		var r result.Result
		fill(reflect.ValueOf(&r).Elem(), &choices{data: data})
		width = max(leastWidth, min(width, 300))
		text := textOf(t, &r, TextOptions{Width: width, Intervals: intervals, ASCII: true})
		for l := range strings.Lines(text) {
			if n := len(strings.TrimSuffix(l, "\n")); n > width {
				t.Fatalf("%d columns of %d: %s", n, width, l)
			}
		}
		textOf(t, &r, TextOptions{Color: true})
		var again result.Result
		if err := json.Unmarshal(jsonOf(t, &r), &again); err != nil {
			t.Fatal(err)
		}
	})
}

// choices are taken from a fuzzer's bytes, over and over.
type choices struct {
	data []byte
	at   int
}

func (c *choices) next(n int) int {
	if len(c.data) == 0 {
		return 0
	}
	c.at++
	return (int(c.data[(c.at-1)%len(c.data)]) + c.at/len(c.data)) % n
}

// fill gives every field below v an ordinary or an extreme value of its type.
func fill(v reflect.Value, c *choices) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), c)
		}
	case reflect.Pointer:
		if c.next(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), c)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), c.next(4), 4))
		for i := range v.Len() {
			fill(v.Index(i), c)
		}
	case reflect.Bool:
		v.SetBool(c.next(2) == 1)
	case reflect.String:
		texts := []string{"", "run", "drain", "confirm", "delivery", "service", "response", "PASS", "fail", "blocked", "a b", "\x1b\xff\u202e世界", strings.Repeat("long ", 40), strings.Repeat("wide世", 60)}
		v.SetString(texts[c.next(len(texts))])
	case reflect.Int, reflect.Int64:
		numbers := []int64{0, 1, 2, 999, 1000, 1e6, 1e9, 1785409200e9, 1785409201e9, -1, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, 1 << 53}
		v.SetInt(numbers[c.next(len(numbers))])
	case reflect.Float64:
		numbers := []float64{0, 1, 0.5, 99.99, 100, 1e-300, 1e300, math.MaxFloat64, -1, math.NaN(), math.Inf(1), math.Inf(-1), 999.96, 120000}
		v.SetFloat(numbers[c.next(len(numbers))])
	}
}

// TestNoResultPanics walks through many arbitrary results, always the same ones.
func TestNoResultPanics(t *testing.T) {
	for seed := range 300 {
		c := &choices{data: []byte{byte(seed), byte(seed * 7), byte(seed / 3), byte(seed * 31), byte(seed ^ 85)}}
		var r result.Result
		fill(reflect.ValueOf(&r).Elem(), c)
		for l := range strings.Lines(textOf(t, &r, TextOptions{Intervals: seed%30 - 1})) {
			if n := cells(strings.TrimSuffix(l, "\n")); n > defaultWidth {
				t.Fatalf("seed %d: %d columns: %s", seed, n, l)
			}
		}
		if !json.Valid(jsonOf(t, &r)) {
			t.Fatalf("seed %d: not JSON", seed)
		}
		if seed%4 == 0 {
			for _, f := range forms {
				f.of(t, &r)
			}
		}
	}
}
