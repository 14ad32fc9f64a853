package suite

import (
	"embed"
	"errors"
	"io/fs"
	"strings"
)

//go:embed scenarios/*.yaml
var scenarios embed.FS

// Keys describes what a suite file may hold, in Markdown.
//
//go:embed FILES.md
var Keys string

// order is that in which suites inside the program are listed; those that are not named here follow.
var order = []string{"release-check", "danubedata", "cloudamqp-sizes", "homelab", "huawei-dms", "sweep", "rate-vs-latency"}

// Scenarios names the suites inside the program.
func Scenarios() []string {
	var names []string
	for _, name := range order {
		if _, err := fs.Stat(scenarios, "scenarios/"+name+".yaml"); err == nil {
			names = append(names, name)
		}
	}
	return names
}

// Scenario is the suite of this name inside the program; nil where there is none.
func Scenario(name string) (*Suite, error) {
	if !validName.MatchString(name) {
		return nil, nil
	}
	text, err := scenarios.ReadFile("scenarios/" + strings.ToLower(name) + ".yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return Read(name+".yaml", text)
}
