package chart

import (
	"image/color"
	"math"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/plot/vg"
)

// luminance of a colour as WCAG 2.1 defines it.
func luminance(c color.NRGBA) float64 {
	channel := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.03928 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(c.R) + 0.7152*channel(c.G) + 0.0722*channel(c.B)
}

func contrast(a, b string) float64 {
	x, y := luminance(rgb(a)), luminance(rgb(b))
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// Black on white is 21 to 1, and grey #777777 on white 4.48, as WCAG's own explanations have it.
func TestContrast(t *testing.T) {
	if got := contrast("#000000", "#FFFFFF"); math.Abs(got-21) > 1e-9 {
		t.Errorf("black on white %g", got)
	}
	if got := contrast("#777777", "#FFFFFF"); math.Abs(got-4.48) > 0.005 {
		t.Errorf("#777777 on white %g", got)
	}
}

func themes(t *testing.T) (all []*Theme) {
	t.Helper()
	for _, style := range Styles {
		theme := ThemeOf(style)
		if theme == nil || theme.Name != style {
			t.Fatalf("style %s has no theme", style)
		}
		all = append(all, theme)
	}
	return all
}

// Every theme is complete, its texts reach the 4.5 to 1 that WCAG asks of small text, on the page and on every shade, and its
// lines stand out from the page.
func TestThemes(t *testing.T) {
	hex := regexp.MustCompile(`^#[0-9A-F]{6}$`)
	for _, th := range themes(t) {
		for _, r := range th.Roles() {
			if !hex.MatchString(r.Color) {
				t.Errorf("%s: %s is %q", th.Name, r.Name, r.Color)
			}
		}
		for _, text := range []string{th.Text, th.Note, th.Fine, th.Loud} {
			if c := contrast(text, th.Page); c < 4.5 {
				t.Errorf("%s: text %s on the page: %.2f to 1", th.Name, text, c)
			}
		}
		for _, ink := range inks {
			least := 1.7 // sky blue and orange of the palette on white are made for areas and broad lines
			if th.Name != "light" {
				least = 2
			}
			if c := contrast(th.Inks[ink], th.Page); c < least {
				t.Errorf("%s: %s on the page: %.2f to 1", th.Name, ink, c)
			}
		}
		for i := 1; i < len(th.Heat); i++ {
			up := luminance(rgb(th.Heat[i])) - luminance(rgb(th.Heat[i-1]))
			if (up > 0) != (th.Name == "dark") {
				t.Errorf("%s: heat step %d does not go on as the others", th.Name, i)
			}
		}
	}
}

// A picture in the light theme can be turned into one in any other by its colours alone.
func TestLightTurnsIntoOthers(t *testing.T) {
	for _, other := range []*Theme{dark} {
		to := map[string]string{}
		for i, r := range light.Roles() {
			o := other.Roles()[i]
			if o.Name != r.Name {
				t.Fatalf("role %d is %s and %s", i, r.Name, o.Name)
			}
			if before, ok := to[r.Color]; ok && before != o.Color {
				t.Errorf("%s: %s is used twice and becomes %s and %s", r.Name, r.Color, before, o.Color)
			}
			to[r.Color] = o.Color
		}
	}
}

// In print nothing has a colour.
func TestPrintIsGrey(t *testing.T) {
	for _, r := range printed.Roles() {
		if c := rgb(r.Color); c.R != c.G || c.G != c.B {
			t.Errorf("%s is %s", r.Name, r.Color)
		}
	}
	// Bars that lie beside each other differ by more than a little: in how grey they are, or in their hatching.
	for i, a := range inks {
		for _, b := range inks[:i] {
			x, y := printed.area(a), printed.area(b)
			if x.Hatch == y.Hatch && contrast(x.Fill, y.Fill) < 1.2 {
				t.Errorf("areas of %s and %s look alike", a, b)
			}
		}
	}
}

// machado are the matrices of G. M. Machado, M. M. Oliveira and L. A. F. Fernandes (A Physiologically-based Model for Simulation
// of Color Vision Deficiency, 2009) at severity 1, for linear RGB.
var machado = map[string][9]float64{
	"protanopia":   {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
	"deuteranopia": {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
	"tritanopia":   {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
}

// lab of a colour as somebody with such a vision sees it (CIE 1976, white D65).
func lab(hex string, m [9]float64) [3]float64 {
	c := rgb(hex)
	var linear, seen [3]float64
	for i, v := range []uint8{c.R, c.G, c.B} {
		s := float64(v) / 255
		if s <= 0.04045 {
			linear[i] = s / 12.92
		} else {
			linear[i] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	for i := range seen {
		seen[i] = min(1, max(0, m[3*i]*linear[0]+m[3*i+1]*linear[1]+m[3*i+2]*linear[2]))
	}
	f := func(v float64) float64 {
		if v > 216.0/24389 {
			return math.Cbrt(v)
		}
		return (24389.0/27*v + 16) / 116
	}
	x := f((0.4124*seen[0] + 0.3576*seen[1] + 0.1805*seen[2]) / 0.9505)
	y := f(0.2126*seen[0] + 0.7152*seen[1] + 0.0722*seen[2])
	z := f((0.0193*seen[0] + 0.1192*seen[1] + 0.9505*seen[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// The colours that stand together as lines of a chart are told apart by people with any kind of colour vision: they differ by at
// least 10 in CIE Lab, where 2.3 is just noticeable.
func TestColourVision(t *testing.T) {
	together := [][]string{{grey, blue, orange, bluishGreen}, {blue, bluishGreen, orange, vermillion}, {orange, blue, vermillion, bluishGreen}}
	for _, th := range []*Theme{light, dark} {
		for vision, m := range machado {
			for _, set := range together {
				for i, a := range set {
					for _, b := range set[:i] {
						x, y := lab(th.Inks[a], m), lab(th.Inks[b], m)
						if d := math.Sqrt((x[0]-y[0])*(x[0]-y[0]) + (x[1]-y[1])*(x[1]-y[1]) + (x[2]-y[2])*(x[2]-y[2])); d < 10 {
							t.Errorf("%s, %s: %s and %s differ by %.1f", th.Name, vision, a, b, d)
						}
					}
				}
			}
		}
	}
}

var hexColor = regexp.MustCompile(`#[0-9A-F]{6}`)

// An SVG has no other colours than its theme.
func TestSVGHasTheThemesColours(t *testing.T) {
	for _, th := range themes(t) {
		var known []string
		for _, r := range th.Roles() {
			known = append(known, r.Color)
		}
		for _, s := range Specs(loadSample(t, "failing"), Options{Names: Names()}) {
			svg := encode(t, s, "svg", Options{Style: th.Name})
			for _, c := range hexColor.FindAll(svg, -1) {
				if !slices.Contains(known, string(c)) {
					t.Errorf("%s, %s: %s is no colour of the theme", th.Name, s.Name, c)
				}
			}
		}
	}
}

// Hatching stays within its box, reaches all of it and is bounded in number.
func TestHatch(t *testing.T) {
	box := vg.Rectangle{Min: vg.Point{X: 10, Y: 20}, Max: vg.Point{X: 70, Y: 50}} // 60 by 30
	for pattern, lines := range map[string]int{"": 0, "rising": 9, "falling": 9, "crossed": 18, "upright": 6, "level": 3} {
		path := hatch(box, pattern, 10)
		if len(path) != 2*lines {
			t.Errorf("%q has %d lines, want %d", pattern, len(path)/2, lines)
		}
		for _, c := range path {
			if c.Pos.X < 10-1e-9 || c.Pos.X > 70+1e-9 || c.Pos.Y < 20-1e-9 || c.Pos.Y > 50+1e-9 {
				t.Errorf("%q leaves its box: %v", pattern, c.Pos)
			}
		}
	}
	huge := vg.Rectangle{Max: vg.Point{X: 1e9, Y: 1e9}}
	if n := len(hatch(huge, "crossed", 1e-9)); n > 2*2*1001 {
		t.Errorf("%d lines in a huge box", n/2)
	}
	if hatch(vg.Rectangle{}, "crossed", 5) != nil {
		t.Error("an empty box has a pattern")
	}
}

func TestHeat(t *testing.T) {
	for share, want := range map[float64]int{-1: 0, 0: 0, 0.5: 6, 1: 11, 7: 11} {
		if got := light.heat(share); got != light.Heat[want] {
			t.Errorf("heat(%v) = %s, want step %s", share, got, strconv.Itoa(want))
		}
	}
	if light.heat(math.NaN()) != light.Heat[0] {
		t.Error("heat of what is no number")
	}
}
