package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"leveret/loadcore"
	"leveret/loadcore/rabbitmqtest"
	"leveret/loadcore/topology"
)

// listed is what rabbitmqctl lists of a virtual host, a line an item, sorted; keys are the columns.
func listed(t *testing.T, node *rabbitmqtest.Node, vhost, what string, columns ...string) []string {
	t.Helper()
	text := node.Ctl(t, append([]string{what, "-p", vhost, "--quiet", "--formatter", "json"}, columns...)...)
	var rows []map[string]any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber() // arguments of 20 GB
	if err := decoder.Decode(&rows); err != nil {
		t.Fatalf("%s: %v\n%s", what, err, text)
	}
	var lines []string
	for _, row := range rows {
		var fields []string
		for _, c := range columns {
			if arguments, ok := row[c].([]any); ok { // [KEY TYPE VALUE], in no order
				slices.SortFunc(arguments, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			}
			fields = append(fields, fmt.Sprint(row[c]))
		}
		lines = append(lines, strings.Join(fields, " "))
	}
	slices.Sort(lines)
	return lines
}

// beginning are the lines of one form.
func beginning(lines []string, with string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !strings.HasPrefix(l, with) })
}

// What a command line makes is what RabbitMQ says that there is, for each form. All forms share a virtual host, so that
// rabbitmqctl, which takes a second each time, is asked only once.
func TestRabbitMQHasWhatWasLaidOut(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	vhost := node.VHost(t)
	file := filepath.Join(t.TempDir(), "queues")
	if err := os.WriteFile(file, []byte("f12-a\nf12-b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	forms := []struct {
		args                        string
		exchanges, queues, bindings []string // "NAME TYPE DURABLE AUTO-DELETE", the same with arguments, "SOURCE QUEUE KEY"
	}{
		{"--exchange f01 --queue f01-a,f01-b --routing-key k", []string{"f01 direct true false"},
			[]string{"f01-a classic false true []", "f01-b classic false true []"}, []string{"f01 f01-a k", "f01 f01-b k"}},
		{"--exchange f02 --type fanout --queue f02-a --flag persistent --auto-delete false --routing-key k", []string{"f02 fanout true false"},
			[]string{"f02-a classic true false []"}, []string{"f02 f02-a k"}},
		{"--exchange f03 --type topic --queue-pattern f03-%03d --queue-pattern-from 9 --queue-pattern-to 10", []string{"f03 topic true false"},
			[]string{"f03-009 classic false true []", "f03-010 classic false true []"}, []string{"f03 f03-009 f03-009", "f03 f03-010 f03-010"}},
		{"--exchange f04 --type headers --queue f04-a --routing-key k --queue-args x-max-length=10,x-overflow=reject-publish,x-single-active-consumer=true,x-dead-letter-exchange=amq.default",
			[]string{"f04 headers true false"},
			[]string{"f04-a classic false true [[x-dead-letter-exchange longstr ] [x-max-length long 10] [x-overflow longstr reject-publish] [x-single-active-consumer bool true]]"}, []string{"f04 f04-a k"}},
		{"--exchange amq.default --queue f05-a", nil, []string{"f05-a classic false true []"}, nil},
		{"--exchange f06 --queue f06-a --quorum-queue --routing-key k --queue-args x-delivery-limit=5", []string{"f06 direct true false"},
			[]string{"f06-a quorum true false [[x-delivery-limit long 5] [x-queue-type longstr quorum]]"}, []string{"f06 f06-a k"}},
		{"--exchange f07 --queue f07-a --stream-queue --routing-key k --max-age P1DT1H --leader-locator balanced", []string{"f07 direct true false"},
			[]string{"f07-a stream true false [[x-max-age longstr 90000s] [x-max-length-bytes long 20000000000] [x-queue-leader-locator longstr balanced] [x-queue-type longstr stream] [x-stream-max-segment-size-bytes long 500000000]]"},
			[]string{"f07 f07-a k"}},
		{"--exchange f08 --queue f08-a --skip-binding-queues", []string{"f08 direct true false"}, []string{"f08-a classic false true []"}, nil},
		{"--exchange f10 --queue f10-a,f10-b --predeclared --routing-key k", []string{"f10 topic true false"},
			[]string{"f10-a classic true false [[x-max-length long 7]]", "f10-b classic false true []"}, []string{"f10 f10-a k", "f10 f10-b k"}},
		{"--exchange f11 --queue f11-a --predeclared=strict --routing-key k", []string{"f11 fanout true false"}, []string{"f11-a classic true false []"}, nil},
		{"--exchange f12 --queue-file " + file, []string{"f12 direct true false"},
			[]string{"f12-a classic false true []", "f12-b classic false true []"}, []string{"f12 f12-a f12-a", "f12 f12-b f12-b"}},
		{"--exchange amq.fanout --queue f13-a --routing-key k", nil, []string{"f13-a classic false true []"}, nil},
	}
	premake(t, node, vhost)
	ep, err := loadcore.ParseURI(node.URIFor(vhost))
	if err != nil {
		t.Fatal(err)
	}
	open := func(args string) {
		t.Helper()
		r, err := planFor(t, strings.Fields(args)...)
		if err != nil {
			t.Fatalf("%s: %v", args, err)
		}
		session, err := topology.Declare(t.Context(), ep, "test", r.layout.Topology)
		if err != nil {
			t.Fatalf("%s: %v", args, err)
		}
		t.Cleanup(func() { session.Close() })
	}
	for _, f := range forms {
		open(f.args)
	}
	open("--exchange f09 --consumers 2 --routing-key k") // queues named by the broker
	exchanges := listed(t, node, vhost, "list_exchanges", "name", "type", "durable", "auto_delete")
	queues := listed(t, node, vhost, "list_queues", "name", "type", "durable", "auto_delete", "arguments")
	bindings := listed(t, node, vhost, "list_bindings", "source_name", "destination_name", "routing_key")
	for i, f := range forms {
		prefix := fmt.Sprintf("f%02d", i+1)
		if i >= 8 {
			prefix = fmt.Sprintf("f%02d", i+2) // f09 is the one below
		}
		for _, c := range []struct {
			what      string
			got, want []string
		}{{"exchanges", beginning(exchanges, prefix), f.exchanges}, {"queues", beginning(queues, prefix), f.queues}, {"bindings", beginning(bindings, prefix), f.bindings}} {
			if !slices.Equal(c.got, c.want) {
				t.Errorf("%s: %s\n%q, want\n%q", f.args, c.what, c.got, c.want)
			}
		}
	}
	if !slices.Contains(bindings, "amq.fanout f13-a k") {
		t.Errorf("no binding to amq.fanout in %q", bindings)
	}
	named, bound := beginning(queues, "amq.gen-"), beginning(bindings, "f09 amq.gen-")
	if len(named) != 2 || len(bound) != 2 || !strings.HasSuffix(named[0], " classic false true []") || !strings.HasSuffix(bound[1], " k") {
		t.Errorf("queues named by the broker: %q, %q", named, bound)
	}
}

// premake makes, as somebody else would, what the predeclared forms find.
func premake(t *testing.T, node *rabbitmqtest.Node, vhost string) {
	t.Helper()
	definitions := strings.ReplaceAll(`{
		"exchanges": [
			{"vhost": "V", "name": "f10", "type": "topic", "durable": true, "auto_delete": false, "internal": false, "arguments": {}},
			{"vhost": "V", "name": "f11", "type": "fanout", "durable": true, "auto_delete": false, "internal": false, "arguments": {}}],
		"queues": [
			{"vhost": "V", "name": "f10-a", "durable": true, "auto_delete": false, "arguments": {"x-max-length": 7}},
			{"vhost": "V", "name": "f11-a", "durable": true, "auto_delete": false, "arguments": {}}]}`, `"V"`, strconv.Quote(vhost))
	path := filepath.Join(t.TempDir(), "definitions.json")
	if err := os.WriteFile(path, []byte(definitions), 0o600); err != nil {
		t.Fatal(err)
	}
	node.Ctl(t, "import_definitions", path)
}
