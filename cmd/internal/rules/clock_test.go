package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wallClock are methods of time.Time that leave its monotonic reading behind.
var wallClock = []string{"Unix", "UnixNano", "UnixMicro", "UnixMilli", "UTC", "Local", "In", "AddDate"}

// mayReadWallClock are the files of the engine and the recorder that use them: the one clock, which is anchored once, and the text of a
// timestamp that somebody gave.
var mayReadWallClock = []string{"capture/event/clock.go", "capture/manifest/manifest.go"}

// No wait, deadline or record of the engine or the recorder goes by the wall clock, which somebody may set: durations between two
// time.Now and timers go by the monotonic clock, as long as its reading is not taken off.
func TestOnlyTheMonotonicClockIsMeasuredWith(t *testing.T) {
	looked, found := 0, 0
	for _, file := range trackedFiles(t) {
		below := strings.HasPrefix(file, "loadcore/") && !strings.HasPrefix(file, "loadcore/rabbitmqtest/") || strings.HasPrefix(file, "capture/")
		if !below || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, filepath.Join(root(t), file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		looked++
		ast.Inspect(tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			s, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains(wallClock, s.Sel.Name) {
				return true
			}
			if of, ok := s.X.(*ast.Ident); ok && of.Name == "time" { // time.Unix makes a time
				return true
			}
			if found++; !slices.Contains(mayReadWallClock, file) {
				t.Errorf("%s: %s takes the monotonic reading off a time", set.Position(s.Pos()), s.Sel.Name)
			}
			return true
		})
	}
	if looked < 100 || found < 3 {
		t.Errorf("%d files, %d places", looked, found)
	}
}
