package manifest

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// keysOf adds the JSON keys of a type and of all types in it.
func keysOf(t reflect.Type, keys map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		keysOf(t.Elem(), keys)
	case reflect.Struct:
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			keys[name] = true
			keysOf(t.Field(i).Type, keys)
		}
	}
}

// The page about the format names no key that there is not, and none of those that tell what the rows mean is forgotten.
func TestFormatNamesTheKeys(t *testing.T) {
	page, err := os.ReadFile("../schema/FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## start.json and manifest.json")
	section, _, _ = strings.Cut(section, "\n## ")
	keys := map[string]bool{}
	keysOf(reflect.TypeFor[Manifest](), keys)
	values := strings.Fields("true round-robin body header perftest idle empty start.json manifest.json capture/manifest/manifest.go x-stream-offset crc32c")
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(section, -1) {
		for _, key := range strings.Split(strings.ReplaceAll(m[1], "[]", ""), ".") {
			if slices.Contains(values, m[1]) {
				break
			}
			named[key] = true
			if !keys[key] {
				t.Errorf("%q is named, and no such key is written", key)
			}
		}
	}
	for _, of := range []any{Producer{}, Consumer{}, Route{}, Outcome{}, QueueEnd{}, Recording{}} {
		own := map[string]bool{}
		keysOf(reflect.TypeOf(of), own)
		for key := range own {
			if !named[key] && !slices.Contains(strings.Fields("messages per_ns from to from_ns to_ns bytes "+
				"content_type content_encoding priority correlation_id reply_to expiration message_id timestamp_s type user_id app_id cluster_id headers batch cpu_ns"), key) {
				t.Errorf("%q of %T is not named", key, of)
			}
		}
	}
}
