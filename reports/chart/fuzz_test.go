package chart

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"leveret/analyze/result"
)

// No result makes a chart panic or puts what is no number into it.
func FuzzCharts(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x02\x02\x02\x02\x02\x02\x02"))
	f.Add([]byte("\x01\x03\x05\x07\x09\x0b\x0d\x0f\x11\x13\x15\x17"))
	f.Fuzz(func(t *testing.T, data []byte) { checkCharts(t, data) })
}

// TestNoResultPanics walks through many arbitrary results, always the same ones.
func TestNoResultPanics(t *testing.T) {
	for seed := range 50 {
		checkCharts(t, []byte{byte(seed), byte(seed * 7), byte(seed / 3), byte(seed * 31), byte(seed ^ 85)})
	}
}

func checkCharts(t *testing.T, data []byte) {
	var r result.Result
	fill(reflect.ValueOf(&r).Elem(), &choices{data: data})
	Skipped(&r, Options{Names: Names()})
	var other result.Result
	fill(reflect.ValueOf(&other).Elem(), &choices{data: data, at: 1})
	runs := SpecsOfRuns([]Labelled{{"a", &r}, {"b", &other}, {"a", &other}}, Options{})
	for _, s := range append(Specs(&r, Options{Names: Names()}), runs...) {
		if (s.NoData != "") != s.empty() {
			t.Fatalf("%s: %d series, reason %q", s.Name, len(s.Series), s.NoData)
		}
		checkLayers(t, s)
		for _, a := range []Axis{s.X, s.Y} {
			if !finite(a.Min) || !finite(a.Max) || !(a.Min < a.Max) || len(labels(a)) < 2 && !a.Category {
				t.Fatalf("%s: axis %+v", s.Name, a)
			}
		}
		for _, line := range s.Series {
			for _, segment := range append(line.Segments, line.Bounds) {
				for _, p := range segment {
					x, y := s.X.place(p.X), s.Y.place(p.Y)
					if !(x > -1e-6 && x < 1+1e-6 && y > -1e-6 && y < 1+1e-6) {
						t.Fatalf("%s: %s has the point %v outside the axes %g to %g, %g to %g", s.Name, line.Name, p, s.X.Min, s.X.Max, s.Y.Min, s.Y.Max)
					}
				}
			}
		}
		svg, err := Encode(s, "svg", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(svg), "NaN") || strings.Contains(string(svg), "Inf") {
			t.Fatalf("%s: the SVG holds what is no number", s.Name)
		}
	}
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
		texts := []string{"", "run", "drain", "confirm", "delivery", "service", "response", "FAIL", "blocked", "lost", "\x1b\xff\u202e世界", strings.Repeat("long ", 40)}
		v.SetString(texts[c.next(len(texts))])
	case reflect.Int, reflect.Int64:
		numbers := []int64{0, 1, 2, 999, 1000, 1e6, 1e9, 1785409200e9, 1785409201e9, 1785409202e9, -1, math.MaxInt64, math.MinInt64, 1 << 53}
		v.SetInt(numbers[c.next(len(numbers))])
	case reflect.Float64:
		numbers := []float64{0, 1, 50, 99.99, 100, 1e-300, 1e300, -1, math.NaN(), math.Inf(1), math.Inf(-1), 99.9999999999, 120000}
		v.SetFloat(numbers[c.next(len(numbers))])
	}
}
