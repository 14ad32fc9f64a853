package table

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"io"
)

// Picture is a drawing beside a table.
type Picture struct {
	Name string
	SVG  []byte
}

// Document is a page of tables, with the pictures of each by the table's name.
type Document struct {
	Title, About, Footer string
	Tables               []*Table
	Pictures             map[string][]Picture
}

const pageStyle = `body{font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff;max-width:72rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2.5rem}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .75rem;border-bottom:1px solid #ddd;text-align:right;white-space:nowrap}
.text{text-align:left}thead th{border-bottom:2px solid #888}section>p,footer{color:#555;font-size:.9rem;margin:.3rem 0}
img{max-width:100%;height:auto;margin-top:1rem}
@media (prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}th,td{border-color:#3a3a3a}section>p,footer{color:#aaa}img{background:#fff;padding:.5rem}}
@media print{body{max-width:none}}`

// Page writes a page that opens from disk and asks nothing of the network: tables, pictures and styles are in it.
func Page(w io.Writer, d Document) error {
	var b bytes.Buffer
	e := func(s string) string { return html.EscapeString(printable(s)) }
	fmt.Fprintf(&b, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>%s</title>
<style>%s</style>
</head>
<body>
<h1>%s</h1>
<p>%s</p>
`, e(d.Title), pageStyle, e(d.Title), e(d.About))
	for _, t := range d.Tables {
		if err := HTML(&b, t); err != nil {
			return err
		}
		for _, p := range d.Pictures[t.Name] {
			fmt.Fprintf(&b, "<img alt=\"%s\" src=\"data:image/svg+xml;base64,%s\">\n", e(t.Title+": "+p.Name), base64.StdEncoding.EncodeToString(p.SVG))
		}
	}
	fmt.Fprintf(&b, "<footer>%s</footer>\n</body>\n</html>\n", e(d.Footer))
	_, err := w.Write(b.Bytes())
	return err
}
