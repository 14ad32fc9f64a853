package loadcore

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadBodies(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one, empty := write("one", "as it is\n"), write("empty", "")
	pool, about, err := ReadBodies([]string{one, empty, one})
	if err != nil || len(pool) != 3 || string(pool[0]) != "as it is\n" || len(pool[1]) != 0 || about[0].Name != one || about[0].SizeBytes != 9 {
		t.Errorf("%q, %+v, %v", pool, about, err)
	}
	huge := filepath.Join(dir, "huge")
	f, err := os.Create(huge)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(MaxBodyPool + 1); err != nil { // takes no room on the disk
		t.Fatal(err)
	}
	f.Close()
	for _, c := range []struct{ file, want string }{{filepath.Join(dir, "none"), "none: there is no such file here; name files that hold one body each"}, {dir, dir + ": is no regular file"}, {os.DevNull, os.DevNull + ": is no regular file"},
		{huge, "huge has 536870913 bytes: with it the bodies have more than 512 MiB"}} {
		if _, _, err := ReadBodies([]string{one, c.file}); err == nil || !strings.Contains(err.Error(), "--body: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.file, err)
		}
	}
	if _, err := readBody(huge, 1000); err == nil || !strings.Contains(err.Error(), "huge has 536870913 bytes") {
		t.Errorf("%v", err)
	}
	if _, _, err := ReadBodies(nil); err == nil {
		t.Error("no files are taken")
	}
}

func TestJSONBodies(t *testing.T) {
	for _, c := range []struct{ count, size, fields int }{{5, 0, 10}, {100, 1000, 1000}, {3, 12, 1}, {2, 100_000, 20}, {2, 50_000, 2000}} {
		pool, about, err := JSONBodies(c.count, c.size, c.fields, 7)
		if err != nil || len(pool) != c.count || len(about) != c.count {
			t.Fatalf("%+v: %d bodies, %v", c, len(pool), err)
		}
		kinds := map[string]bool{}
		for i, b := range pool {
			var object map[string]any
			if err := json.Unmarshal(b, &object); err != nil || len(object) == 0 {
				t.Fatalf("%+v: %v in %.100s", c, err, b)
			}
			// No two fields of a body have one name: reading it as a map would lose one.
			if n := bytes.Count(b, []byte(`":`)); n != len(object) {
				t.Errorf("%+v: %d fields, %d names", c, n, len(object))
			}
			if len(b) < c.size || len(b) > c.size+jsonSlack || about[i].SizeBytes != len(b) || cap(b) > c.size+jsonSlack {
				t.Errorf("%+v: %d bytes", c, len(b))
			}
			for _, v := range object {
				switch v.(type) {
				case nil:
					kinds["null"] = true
				case bool:
					kinds["bool"] = true
				case float64:
					kinds["number"] = true
				case string:
					kinds["text"] = true
				}
			}
		}
		if c.fields == 1000 && len(kinds) != 4 {
			t.Errorf("%+v: only %v", c, kinds)
		}
		again, _, _ := JSONBodies(c.count, c.size, c.fields, 7)
		other, _, _ := JSONBodies(c.count, c.size, c.fields, 8)
		if !bytes.Equal(bytes.Join(pool, nil), bytes.Join(again, nil)) || bytes.Equal(bytes.Join(pool, nil), bytes.Join(other, nil)) {
			t.Errorf("%+v: the seed does not decide", c)
		}
	}
	for _, c := range []struct {
		count, size, fields int
		want                string
	}{{0, 10, 10, "--body-count=0"}, {1, 10, 0, "--body-field-count=0"}, {1, -1, 10, "--size=-1"}, {1000, 1 << 20, 10, "--body-count=1000 of --size=1048576"}} {
		if _, _, err := JSONBodies(c.count, c.size, c.fields, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
