package rules

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// listed is a package with its files for one system.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string // path in the source to the package meant
}

// The program is made for Linux first, and must compile elsewhere. Type-checking from source says so within seconds, where
// a cross build compiles every dependency first.
func TestCompilesOnOtherSystems(t *testing.T) {
	for _, system := range []string{"darwin", "windows"} {
		t.Run(system, func(t *testing.T) {
			checker := &checker{packages: map[string]*types.Package{"unsafe": types.Unsafe}, files: token.NewFileSet()}
			ours := 0
			for _, p := range listFor(t, system) {
				own := strings.HasPrefix(p.ImportPath, module)
				if own {
					ours++
				}
				for _, problem := range checker.check(t, p, own) {
					t.Error(problem)
				}
			}
			if ours < 10 {
				t.Errorf("only %d packages of the module were checked", ours)
			}
		})
	}
}

// listFor returns the module's packages and what they depend on, dependencies first.
func listFor(t *testing.T, system string) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap", "./...")
	cmd.Dir = root(t)
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list for %s: %v", system, err)
	}
	var packages []listed
	decoder := json.NewDecoder(strings.NewReader(string(output)))
	for {
		var p listed
		if err := decoder.Decode(&p); err == io.EOF {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// checker keeps what has been checked for the packages that import it.
type checker struct {
	packages map[string]*types.Package
	files    *token.FileSet
}

// check type-checks one package and returns its errors; of packages that are not ours only what they declare is needed.
func (c *checker) check(t *testing.T, p listed, own bool) (problems []error) {
	t.Helper()
	if p.ImportPath == "unsafe" {
		return nil
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(c.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return []error{err}
		}
		files = append(files, file)
	}
	config := types.Config{
		IgnoreFuncBodies: !own,
		Sizes:            types.SizesFor("gc", "amd64"),
		Importer:         importer{c, p.ImportMap},
		Error: func(err error) {
			if own {
				problems = append(problems, err)
			}
		},
	}
	c.packages[p.ImportPath], _ = config.Check(p.ImportPath, c.files, files, nil) // its error is the first of problems
	return problems
}

// importer finds packages among those checked before.
type importer struct {
	*checker
	names map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if meant, ok := i.names[path]; ok {
		path = meant
	}
	if p := i.packages[path]; p != nil {
		return p, nil
	}
	return nil, os.ErrNotExist
}
