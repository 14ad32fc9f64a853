package chart

import (
	"fmt"
	"image/color"
	"slices"
	"strconv"
	"strings"
)

// Theme has every colour that a chart of a style is drawn in, all opaque, each as #RRGGBB. A Spec names colours by the names
// below and knows no theme, so that one Spec can be drawn in any style.
type Theme struct {
	Name string // light, dark or print
	Page string // what everything is drawn on
	Text string // title, legend
	Note string // ticks, names of axes
	Fine string // caption, names of spans
	Loud string // FAIL and the like, beside the title
	Axis string
	Grid string
	// Fainter is the grid at ticks without a label.
	Fainter string
	// Inks are the colours of lines, dots and bars, by name.
	Inks map[string]string
	// Shades are those of spans, by the name that shadeName gives for a span's kind.
	Shades map[string]Shade
	// Areas are how bars of an ink are filled where the ink alone would not tell them apart; an ink without one fills them.
	Areas map[string]Shade
	// Heat are the colours of a heat map, from the least to the most, in even steps.
	Heat []string
}

// Shade of an area: its fill, its edge, and the pattern of lines in it, in the colour of the edge.
type Shade struct {
	Fill, Edge string
	Hatch      string // "", rising, falling, crossed, upright, level
}

// The names of inks. In the light style they are the palette of Okabe and Ito (Color Universal Design, 2008), told apart by
// people with any kind of colour vision; in the dark style the same hues, lighter; in print greys, and then lines differ by
// dashes and width, areas by their hatching.
const (
	black         = "black"
	orange        = "orange"
	skyBlue       = "sky-blue"
	bluishGreen   = "green"
	blue          = "blue"
	vermillion    = "vermillion"
	reddishPurple = "purple"
	grey          = "grey" // for what is only a reference
)

// inks in the order of the palette; cycles of series go through it.
var inks = []string{black, orange, skyBlue, bluishGreen, blue, vermillion, reddishPurple, grey}

// Styles that Themes exist for, the default first.
var Styles = []string{"light", "dark", "print"}

// ThemeOf is the theme of a style; of "" the light one, of an unknown one nil. Callers must not change it.
func ThemeOf(style string) *Theme {
	switch style {
	case "", light.Name:
		return light
	case dark.Name:
		return dark
	case printed.Name:
		return printed
	}
	return nil
}

var light = &Theme{
	Name: "light", Page: "#FFFFFF", Text: "#1A1A1A", Note: "#333333", Fine: "#444444", Loud: "#B34700", // vermillion, darkened until it reads well as text
	Axis: "#343434", Grid: "#DCDCDC", Fainter: "#ECECEC",
	Inks: map[string]string{
		black: "#000000", orange: "#E69F00", skyBlue: "#56B4E9", bluishGreen: "#009E73", blue: "#0072B2", vermillion: "#D55E00",
		reddishPurple: "#CC79A7", grey: "#A0A0A0",
	},
	Shades: map[string]Shade{
		"drain": {Fill: "#F2F2F2", Edge: "#777777"}, "few": {Fill: "#F4F4F4", Edge: "#AAAAAA"}, "window": {Fill: "#EDF5FB", Edge: "#5E8CAE"},
		"lost": {Fill: "#F9DFCF", Edge: "#D45E01"}, "stall": {Fill: "#F3E1EB", Edge: "#CB79A7"}, "reconnect": {Fill: "#DCEFFA", Edge: "#55B4E9"},
		"blocked": {Fill: "#FBEBC8", Edge: "#E59F01"}, "mark": {Fill: "#FEFEFE", Edge: "#4B4B4B"},
	},
	Heat: []string{"#F7F7EE", "#E4EBCD", "#C6E0BB", "#9FD2B3", "#76C1B3", "#52AAB3", "#3C8FAF", "#3673A5", "#365795", "#313D7D", "#27265E", "#19133C"},
}

var dark = &Theme{
	Name: "dark", Page: "#15191E", Text: "#F0F2F4", Note: "#D3D8DD", Fine: "#B4BBC2", Loud: "#FF9D66",
	Axis: "#C2C8CE", Grid: "#353C44", Fainter: "#272D34",
	Inks: map[string]string{
		black: "#F7F7F7", orange: "#F0B437", skyBlue: "#9AD3F7", bluishGreen: "#35C59A", blue: "#55A6E8", vermillion: "#FF7F45",
		reddishPurple: "#E3A0C5", grey: "#848C94",
	},
	Shades: map[string]Shade{
		"drain": {Fill: "#20262C", Edge: "#8D949B"}, "few": {Fill: "#1E2429", Edge: "#6C747C"}, "window": {Fill: "#18242F", Edge: "#6F9CBF"},
		"lost": {Fill: "#472818", Edge: "#FE7F45"}, "stall": {Fill: "#40293A", Edge: "#E2A0C5"}, "reconnect": {Fill: "#1A3748", Edge: "#99D3F7"},
		"blocked": {Fill: "#41351A", Edge: "#EFB437"}, "mark": {Fill: "#16191E", Edge: "#C9CFD5"},
	},
	Heat: []string{"#1B2026", "#1C2B47", "#223A6B", "#2D4D8A", "#36659B", "#407FA3", "#5199A6", "#6FB2A6", "#95C8A9", "#BEDBB3", "#E1EBC8", "#F9F9E8"},
}

// printed is for paper and photocopies: no colour, and no two lines or areas that only differ by how grey they are.
var printed = &Theme{
	Name: "print", Page: "#FFFFFF", Text: "#000000", Note: "#111111", Fine: "#222222", Loud: "#010101",
	Axis: "#0A0A0A", Grid: "#DADADA", Fainter: "#EBEBEB",
	Inks: map[string]string{
		black: "#020202", orange: "#8F8F8F", skyBlue: "#5C5C5C", bluishGreen: "#353535", blue: "#0B0B0B", vermillion: "#191919",
		reddishPurple: "#696969", grey: "#B0B0B0",
	},
	Shades: map[string]Shade{
		"drain": {Fill: "#F3F3F3", Edge: "#707070"}, "few": {Fill: "#F5F5F5", Edge: "#999999"}, "window": {Fill: "#F8F8F8", Edge: "#5F5F5F"},
		"lost": {Fill: "#F0F0F0", Edge: "#404040", Hatch: "crossed"}, "stall": {Fill: "#F1F1F1", Edge: "#858585", Hatch: "rising"},
		"reconnect": {Fill: "#F6F6F6", Edge: "#7F7F7F", Hatch: "level"}, "blocked": {Fill: "#F7F7F7", Edge: "#868686", Hatch: "falling"},
		"mark": {Fill: "#FEFEFE", Edge: "#2A2A2A"},
	},
	Areas: map[string]Shade{
		black: {Fill: "#4A4A4A", Edge: "#020202"}, orange: {Fill: "#FDFDFD", Edge: "#030303", Hatch: "rising"}, skyBlue: {Fill: "#BDBDBD", Edge: "#040404"},
		bluishGreen: {Fill: "#FCFCFC", Edge: "#050505", Hatch: "falling"}, blue: {Fill: "#8A8A8A", Edge: "#060606"},
		vermillion: {Fill: "#FBFBFB", Edge: "#070707", Hatch: "crossed"}, reddishPurple: {Fill: "#E2E2E2", Edge: "#080808", Hatch: "level"},
		grey: {Fill: "#FAFAFA", Edge: "#090909", Hatch: "upright"},
	},
	Heat: []string{"#FAFAFA", "#EAEAEA", "#D9D9D9", "#C8C8C8", "#B6B6B6", "#A4A4A4", "#919191", "#7D7D7D", "#696969", "#535353", "#3B3B3B", "#202020"},
}

// Role is a colour of a theme by what it is for: "page", "ink-blue", "shade-drain", "edge-drain", "tint-blue", "heat-3".
type Role struct{ Name, Color string }

// Roles are all colours that a picture in the theme can hold, in an order that is the same for all themes. In the light theme no
// two roles whose colours differ in the dark one have the same colour, so that a light picture can be turned into any other.
func (t *Theme) Roles() []Role {
	roles := []Role{{"page", t.Page}, {"text", t.Text}, {"note", t.Note}, {"fine", t.Fine}, {"loud", t.Loud}, {"axis", t.Axis}, {"grid", t.Grid}, {"fainter", t.Fainter}}
	for _, name := range inks {
		roles = append(roles, Role{"ink-" + name, t.Inks[name]}, Role{"half-" + name, t.half(name)}, Role{"tint-" + name, t.tint(name)})
		if area, ok := t.Areas[name]; ok {
			roles = append(roles, Role{"area-" + name, area.Fill}, Role{"outline-" + name, area.Edge})
		}
	}
	for _, name := range shadeNames {
		roles = append(roles, Role{"shade-" + name, t.Shades[name].Fill}, Role{"edge-" + name, t.Shades[name].Edge})
	}
	for i, c := range t.Heat {
		roles = append(roles, Role{"heat-" + strconv.Itoa(i), c})
	}
	return roles
}

// tint is a quarter of an ink on the page, for bands that lines are drawn on; half is half of it.
func (t *Theme) tint(ink string) string { return mixed(t.Inks[ink], t.Page, 0.25) }
func (t *Theme) half(ink string) string { return mixed(t.Inks[ink], t.Page, 0.5) }

// area is how bars of an ink are filled.
func (t *Theme) area(ink string) Shade {
	if s, ok := t.Areas[ink]; ok {
		return s
	}
	return Shade{Fill: t.Inks[ink], Edge: t.Inks[ink]}
}

// heat is the colour of a share of the most, from 0 to 1; what lies outside takes the end.
func (t *Theme) heat(share float64) string {
	if !(share > 0) {
		return t.Heat[0]
	}
	return t.Heat[min(len(t.Heat)-1, int(min(share, 1)*float64(len(t.Heat))))]
}

// shadeNames are the keys of Theme.Shades.
var shadeNames = []string{"drain", "few", "window", "lost", "stall", "reconnect", "blocked", "mark"}

// shadeName chooses a shade for a kind of span.
func shadeName(kind string) string {
	if slices.Contains(shadeNames, kind) {
		return kind
	}
	for _, s := range [][2]string{{"lost", "lost"}, {"fail", "lost"}, {"stall", "stall"}, {"connect", "reconnect"}} {
		if strings.Contains(kind, s[0]) {
			return s[1]
		}
	}
	return "blocked"
}

// mixed is share of a colour on another.
func mixed(hex, on string, share float64) string {
	a, b := rgb(hex), rgb(on)
	mix := func(x, y uint8) uint8 { return uint8(float64(x)*share + float64(y)*(1-share) + 0.5) }
	return fmt.Sprintf("#%02X%02X%02X", mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B))
}

// rgb reads #RRGGBB; what is not one is black.
func rgb(hex string) color.NRGBA {
	v, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	if err != nil || len(hex) != 7 {
		return color.NRGBA{A: 0xFF}
	}
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 0xFF}
}
