package rabbitmqtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// requestTimeout bounds one request to the management API.
const requestTimeout = 30 * time.Second

// client keeps no connection between requests, so that no test finds a goroutine of ours.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: requestTimeout}

// request talks to the management API: path as in "queues/myvhost/q", its parts escaped by the caller (PathEscape), body
// and answer as JSON where not nil.
func (n *Node) request(ctx context.Context, method, path string, body, answer any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return fmt.Errorf("management API: %s %s: %w", method, path, err)
		}
	}
	target := n.ManagementURL() + "/api/" + strings.TrimPrefix(path, "/")
	request, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("management API: %w", err)
	}
	request.SetBasicAuth(n.User(), n.Password())
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("management API: %w", err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("management API: %s %s: %w", method, target, err)
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("management API: %s %s: %s: %s", method, target, response.Status, bytes.TrimSpace(got))
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(got, answer); err != nil {
		return fmt.Errorf("management API: %s %s: %w", method, target, err)
	}
	return nil
}

// Permissions of a user in a virtual host, as regular expressions over names; "" matches none, ".*" all.
type Permissions struct {
	Configure string `json:"configure"`
	Write     string `json:"write"`
	Read      string `json:"read"`
}

// AllPermissions allow everything in a virtual host.
var AllPermissions = Permissions{Configure: ".*", Write: ".*", Read: ".*"}

func (n *Node) addVHost(ctx context.Context, vhost string) error {
	if err := n.request(ctx, http.MethodPut, "vhosts/"+url.PathEscape(vhost), struct{}{}, nil); err != nil {
		return err
	}
	return n.permit(ctx, n.User(), vhost, AllPermissions)
}

func (n *Node) deleteVHost(ctx context.Context, vhost string) error {
	return n.request(ctx, http.MethodDelete, "vhosts/"+url.PathEscape(vhost), nil, nil)
}

func (n *Node) permit(ctx context.Context, user, vhost string, p Permissions) error {
	return n.request(ctx, http.MethodPut, "permissions/"+url.PathEscape(vhost)+"/"+url.PathEscape(user), p, nil)
}

// addUser makes a user without tags; an empty password makes one that only a certificate can log in.
func (n *Node) addUser(ctx context.Context, user, password string) error {
	body := map[string]string{"tags": ""}
	if password == "" {
		body["password_hash"] = ""
	} else {
		body["password"] = password
	}
	return n.request(ctx, http.MethodPut, "users/"+url.PathEscape(user), body, nil)
}

func (n *Node) deleteUser(ctx context.Context, user string) error {
	return n.request(ctx, http.MethodDelete, "users/"+url.PathEscape(user), nil, nil)
}
