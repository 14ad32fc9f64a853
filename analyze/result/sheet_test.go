package result

import (
	"strings"
	"testing"
)

// No field is a formula for a spreadsheet, numbers are what they were, and taking one apostrophe away gives back what was written.
func TestSheetCell(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "orders": "orders", "0": "0", "12.5": "12.5", "-1": "-1", "-0.25": "-0.25", "-1e-09": "-1e-09", "1e+06": "1e+06", ">=100": ">=100", "a=1": "a=1",
		"=1+1": "'=1+1", "+1": "'+1", "-1+1": "'-1+1", "-": "'-", "-x": "'-x", "--confirm": "'--confirm", "-inf": "'-inf", "@SUM(A1)": "'@SUM(A1)",
		"\t=1": "'\t=1", "\r=1": "'\r=1", "\n=1": "'\n=1", "'": "''", "'=1": "''=1", "''": "'''", "＝1": "'＝1", "－1": "'－1",
	} {
		got := SheetCell(text)
		if got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if back := strings.TrimPrefix(got, "'"); back != text {
			t.Errorf("%q comes back as %q", text, back)
		}
	}
}
