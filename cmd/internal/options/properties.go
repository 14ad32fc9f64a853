package options

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"leveret/capture/manifest"
)

// messageProperties reads k=v,k=v: PerfTest's names of properties, and any other name as a header, typed as queueArgs does.
func messageProperties(p *MessageProperties) value {
	var given []string
	return value{func() string { return strings.Join(given, ",") }, func(s string) error {
		for item := range splitList(s) {
			key, text, _ := strings.Cut(item, "=")
			key, text = strings.TrimSpace(key), strings.TrimSpace(text)
			if key == "" {
				return fmt.Errorf("%q has no key; write KEY=VALUE, separated by commas", item)
			}
			if err := p.set(key, text); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			given = append(given, item)
		}
		return nil
	}, "properties"}
}

func (p *MessageProperties) set(key, text string) error {
	texts := map[string]*string{
		"contentType": &p.ContentType, "contentEncoding": &p.ContentEncoding, "correlationId": &p.CorrelationID, "replyTo": &p.ReplyTo,
		"messageId": &p.MessageID, "type": &p.Type, "userId": &p.UserID, "appId": &p.AppID, "clusterId": &p.ClusterID,
	}
	if to, ok := texts[key]; ok {
		*to = text
		return nil
	}
	switch key {
	case "deliveryMode":
		if text != "1" && text != "2" {
			return errors.New("must be 1 (transient) or 2 (persistent)")
		}
		persistent := text == "2"
		p.Persistent = &persistent
	case "priority":
		n, err := strconv.ParseUint(text, 10, 8)
		if err != nil {
			return errors.New("must be a whole number from 0 to 255")
		}
		priority := uint8(n)
		p.Priority = &priority
	case "expiration":
		if _, err := strconv.ParseUint(text, 10, 32); err != nil {
			return errors.New("must be milliseconds, a whole number")
		}
		p.Expiration = text
	case "timestamp":
		t, err := parseTime(text)
		if err != nil {
			return errors.New("must be a time such as 2026-06-03T07:45:54Z")
		}
		seconds := t.Unix()
		p.Timestamp = &seconds
	default:
		p.header(manifest.Arg{Key: key, Value: typed(key, text)})
	}
	return nil
}

// header sets a header; the later of two with the same key counts.
func (p *MessageProperties) header(a manifest.Arg) {
	for i := range p.Headers {
		if p.Headers[i].Key == a.Key {
			p.Headers[i] = a
			return
		}
	}
	p.Headers = append(p.Headers, a)
}
