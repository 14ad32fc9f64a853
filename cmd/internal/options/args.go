package options

import (
	"fmt"
	"strconv"
	"strings"

	"leveret/capture/manifest"
)

// queueArgs reads k=v,k=v, typed as PerfTest types them: true and false are booleans, whole numbers are 64-bit integers,
// anything else is text; a key without a value has the empty text.
func queueArgs(p *[]manifest.Arg) value {
	return value{func() string { return formatArgs(*p) }, func(s string) error {
		for item := range strings.SplitSeq(s, ",") {
			if strings.TrimSpace(item) == "" {
				continue
			}
			key, text, _ := strings.Cut(item, "=")
			key = strings.TrimSpace(key)
			if key == "" {
				return fmt.Errorf("%q has no key; write KEY=VALUE, separated by commas", item)
			}
			*p = append(*p, manifest.Arg{Key: key, Value: typed(key, strings.TrimSpace(text))})
		}
		return nil
	}, "args"}
}

func typed(key, text string) any {
	if text == "true" || text == "false" {
		return text == "true"
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	// PerfTest's name for the default exchange, which has the empty name on the wire.
	if key == "x-dead-letter-exchange" && text == "amq.default" {
		return ""
	}
	return text
}

func formatArgs(args []manifest.Arg) string {
	items := make([]string, len(args))
	for i, a := range args {
		items[i] = fmt.Sprintf("%s=%v", a.Key, a.Value)
	}
	return strings.Join(items, ",")
}
