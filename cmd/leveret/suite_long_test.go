//go:build long

package main

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"leveret/cmd/internal/suite"
	"leveret/loadcore/rabbitmqtest"
)

// All 58 rows of the published tables on a cluster of three nodes: TLS, and mirrored queues where the version has them, included. The
// instance flavors are all this cluster.
func TestHuaweiOnACluster(t *testing.T) {
	nodes := rabbitmqtest.StartCluster(t, 3, rabbitmqtest.Options{TLS: true})
	t.Setenv(asMain, "1")
	node := nodes[0]
	vhost := node.VHost(t)
	management, err := url.Parse(node.ManagementURL())
	if err != nil {
		t.Fatal(err)
	}
	management.User = url.UserPassword(node.User(), node.Password())
	uri := node.URIFor(vhost)
	tls := node.TLSURIFor(vhost) + "?cacertfile=" + url.QueryEscape(node.CACert())
	dir := filepath.Join(t.TempDir(), "suite")
	var stdout, stderr strings.Builder
	code := run(t.Context(), []string{"suite", "huawei-dms", "--time", "0.3", "--capture", dir, "--uri", uri, "--uri", "ssl=" + tls,
		"--uri", "4u8g=" + uri, "--uri", "8u16g=" + uri, "--uri", "16u32g=" + uri, "--management-uri", management.String()}, strings.NewReader(""), &stdout, &stderr)
	if code != exitOK {
		t.Errorf("exit %d\n%s", code, &stderr)
	}
	t.Log(stdout.String())
	rows := 0
	for _, run := range suiteRecord(t, dir).Runs {
		rows += len(run.Rows)
		if run.State != suite.Done && !(run.State == suite.LeftOut && strings.Contains(run.Reason, "needs a broker before version 4")) {
			t.Errorf("%s: %s: %s", run.ID, run.State, run.Reason)
		}
	}
	if rows != 58 {
		t.Errorf("%d rows, want 58", rows)
	}
}
