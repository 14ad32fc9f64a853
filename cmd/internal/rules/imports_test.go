package rules

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// mayImport says which packages of this module each package may import, tests apart; a name that ends in /... stands for
// a package and those below it. loadcore and capture never meet except in capture/event and capture/manifest, analyze and
// reports know neither of them, and reports know results only. A package that is missing here is a mistake or a decision:
// a new one fences a heavy dependency, or is a codec or pure algorithm with its own tests, or a test double, or a contract
// between processes. Everything else is a file in a package that exists.
var mayImport = map[string][]string{
	"cmd/leveret":             {"..."},
	"cmd/internal/options":    {"capture/event", "capture/manifest", "loadcore/...", "analyze/assert", "analyze/quantile"},
	"cmd/internal/layout":     {"cmd/internal/options", "analyze/result", "capture/event", "capture/manifest", "loadcore", "loadcore/topology"},
	"cmd/internal/panel":      {"loadcore", "capture", "capture/event", "capture/manifest", "analyze/result"},
	"cmd/internal/plan":       {"cmd/internal/layout", "cmd/internal/options", "analyze/result", "capture/manifest", "loadcore", "loadcore/topology"},
	"cmd/internal/prometheus": {"loadcore", "capture/manifest"},
	"cmd/internal/perftest":   {},
	"cmd/internal/perflines":  {"cmd/internal/options", "cmd/internal/perftest", "loadcore", "capture/event", "capture/manifest", "analyze/result"},
	"cmd/internal/bench":      {},
	"cmd/internal/calibrate":  {"loadcore/...", "capture", "capture/event", "capture/manifest", "analyze/result"},
	"cmd/internal/suite":      {"analyze/assert", "analyze/result", "reports/table"},

	"cmd/internal/panel/terminaltest": {},

	"loadcore":                   {"loadcore/wire", "capture/event", "capture/manifest"},
	"loadcore/wire":              {},
	"loadcore/broker":            {"loadcore/wire"},
	"loadcore/topology":          {"loadcore", "loadcore/wire", "capture/manifest"},
	"loadcore/management":        {"capture/event", "capture/manifest"},
	"loadcore/hostile":           {"loadcore/wire"}, // a test double
	"loadcore/rabbitmqtest":      {},
	"loadcore/rabbitmqtest/node": {"loadcore/rabbitmqtest"},

	"capture":          {"capture/event", "capture/schema", "capture/manifest"},
	"capture/event":    {},
	"capture/manifest": {"capture/event"}, // the clock's snapshots
	"capture/schema":   {"capture/event", "capture/manifest"},

	"analyze":           {"capture/event", "capture/schema", "capture/manifest", "analyze/..."},
	"analyze/result":    {},
	"analyze/quantile":  {},
	"analyze/integrity": {"capture/event", "capture/manifest", "analyze/result"},
	"analyze/assert":    {"analyze/result", "analyze/quantile"},
	"analyze/compare":   {"analyze/result", "analyze/quantile", "analyze/assert"},
	"analyze/export":    {}, // fences Parquet

	"reports":       {"analyze/result"},
	"reports/chart": {"analyze/result"},
	"reports/table": {"analyze/result"},
}

// homes says where each dependency may be used, tests apart. A dependency is a decision: its home is entered here in the
// commit that adds it, which gives the reason.
var homes = map[string][]string{
	"github.com/rabbitmq/amqp091-go":          {"loadcore/topology"},
	"github.com/apache/arrow/go/v17":          {"capture", "capture/schema", "analyze", "analyze/export"},
	"github.com/google/flatbuffers":           {"capture/schema"}, // Arrow's own encoding of its headers
	"github.com/HdrHistogram/hdrhistogram-go": {"loadcore"},       // live latency
	"github.com/prometheus/client_golang":     {"cmd/internal/prometheus"},
	"github.com/klauspost/compress":           {"capture/schema", "analyze/export"}, // zstd
	"github.com/pierrec/lz4/v4":               {"capture/schema"},
	"github.com/spf13/pflag":                  {"cmd/internal/options"},
	"github.com/schollz/progressbar/v3":       {"cmd/internal/panel"},
	"github.com/rivo/uniseg":                  {"cmd/internal/panel", "reports/table"}, // how wide a text is on a terminal
	"go.yaml.in/yaml/v3":                      {"cmd/internal/suite"},
	"gonum.org/v1/plot":                       {"reports/chart"},
	"gonum.org/v1/gonum":                      {"analyze/compare"}, // Student's distribution
	"golang.org/x/perf":                       {"analyze/compare"}, // rank test and median of repeated runs
	"github.com/aclements/go-moremath":        {"analyze/compare"}, // the distribution of its statistic, for the interval
	"codeberg.org/go-fonts/liberation":        {"reports/chart"},
	"codeberg.org/go-pdf/fpdf":                {"reports/chart"},
	"golang.org/x/image":                      {"reports/chart"},
	"golang.org/x/term":                       {"cmd/internal/panel"},
	"golang.org/x/oauth2":                     {"cmd/leveret"},
	"github.com/gofrs/flock":                  {"cmd/leveret"}, // one process at a suite at a time, on every system; its lock ends with the process
	"golang.org/x/sys":                        {"loadcore", "capture", "cmd/internal/panel", "cmd/internal/panel/terminaltest"},
}

// goPackage is what we use of `go list -json`.
type goPackage struct {
	ImportPath string
	Standard   bool
	Imports    []string // of non-test files, for the system that the test runs on
	Deps       []string
	Module     *struct{ Path string }
}

const module = "leveret/"

// list returns the packages of the pattern and everything that they depend on.
func list(t *testing.T, pattern string) map[string]goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps,Module", pattern)
	cmd.Dir = root(t)
	var problems strings.Builder
	cmd.Stderr = &problems
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %s: %v\n%s", pattern, err, &problems)
	}
	packages := map[string]goPackage{}
	decoder := json.NewDecoder(strings.NewReader(string(output)))
	for {
		var p goPackage
		if err := decoder.Decode(&p); err == io.EOF {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p
	}
}

// root returns the module's folder, two above this package's parent.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return path.Join(dir, "..", "..", "..")
}

func TestImportsKeepTheirDirections(t *testing.T) {
	packages := list(t, "./...")
	checked := 0
	for _, p := range packages {
		name, ours := strings.CutPrefix(p.ImportPath, module)
		if !ours || name == "cmd/internal/rules" {
			continue
		}
		allowed, known := mayImport[name]
		if !known {
			t.Errorf("package %s is not in the table of imports (%s)", name, "mayImport")
			continue
		}
		checked++
		for _, imported := range p.Imports {
			if other, ours := strings.CutPrefix(imported, module); ours {
				if !matchesAny(allowed, other) {
					t.Errorf("%s imports %s; it may import %s", name, other, strings.Join(allowed, ", "))
				}
				continue
			}
			if home, ok := homeOf(packages[imported]); !ok {
				t.Errorf("%s imports %s, which is in no table of dependencies (%s)", name, imported, "homes")
			} else if home != nil && !slices.Contains(home, name) {
				t.Errorf("%s imports %s; only %s may", name, imported, strings.Join(home, ", "))
			}
		}
	}
	if checked < 10 {
		t.Errorf("only %d packages of the module were found", checked)
	}
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		prefix, below := strings.CutSuffix(pattern, "...")
		return pattern == name || below && strings.HasPrefix(name+"/", prefix)
	})
}

// homeOf returns the packages that may import p, nil where all may.
func homeOf(p goPackage) (home []string, ok bool) {
	if p.Standard || p.Module == nil {
		return nil, true
	}
	home, ok = homes[p.Module.Path]
	return home, ok
}

// What serves tests, or is not meant for a program that people run, must not get into it. (expvar is in it, by Prometheus's
// library: it publishes the command line on a server that nothing here starts. Thrift, which Parquet's headers are written
// with, has a logger for tests that nothing here makes; the package testing does nothing unasked.)
func TestTheProgramHoldsNoTestCode(t *testing.T) {
	packages := list(t, "./cmd/leveret")
	if _, ok := packages[module+"cmd/leveret"]; !ok {
		t.Fatal("no package cmd/leveret")
	}
	const thrift = "github.com/apache/thrift/lib/go/thrift"
	for _, unwanted := range []string{"testing", module + "loadcore/rabbitmqtest", "net/http/pprof"} {
		for _, p := range packages {
			if slices.Contains(p.Imports, unwanted) && !(unwanted == "testing" && p.ImportPath == thrift) {
				t.Errorf("cmd/leveret depends on %s, by way of %s", unwanted, p.ImportPath)
			}
		}
	}
}

func TestPackageNamesSayWhatTheyAreAbout(t *testing.T) {
	for name := range list(t, "./...") {
		own, ours := strings.CutPrefix(name, module)
		if ours && slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "types", "misc", "shared", "base"}, path.Base(own)) {
			t.Errorf("package %s: the name says nothing about what is in it", own)
		}
	}
}
