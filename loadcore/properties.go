package loadcore

import (
	"fmt"

	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// messageProperties are the properties of every message of a producer, the stamp's headers not included; nil for none.
func messageProperties(s *manifest.Producer) *wire.Properties {
	p := &wire.Properties{}
	if s.Persistent {
		p.DeliveryMode = wire.Persistent
	}
	m := s.Properties
	if m == nil {
		if s.Persistent {
			return p
		}
		return nil
	}
	p.ContentType, p.ContentEncoding = m.ContentType, m.ContentEncoding
	p.CorrelationID, p.ReplyTo, p.Expiration = m.CorrelationID, m.ReplyTo, m.Expiration
	p.MessageID, p.Type, p.UserID, p.AppID, p.ClusterID = m.MessageID, m.Type, m.UserID, m.AppID, m.ClusterID
	if m.Priority != nil {
		p.Priority = *m.Priority
		p.Flags |= wire.FlagPriority
	}
	if m.Timestamp != nil {
		p.Timestamp = uint64(*m.Timestamp)
		p.Flags |= wire.FlagTimestamp
	}
	for _, h := range m.Headers {
		p.Headers = append(p.Headers, wire.Field{Key: h.Key, Value: h.Value})
	}
	return p
}

// propertiesError is for properties that do not fit the frames that were agreed on with the broker.
func propertiesError(err error) error {
	return fmt.Errorf("--message-properties: %w: make them shorter, or allow larger frames (--framemax, as far as the broker does)", err)
}

func checkMessageProperties(s *manifest.Producer) error {
	m := s.Properties
	if m == nil {
		return nil
	}
	if m.Timestamp != nil && *m.Timestamp < 0 {
		return fmt.Errorf("--message-properties: timestamp %d: want seconds since 1970, not before", *m.Timestamp)
	}
	for _, c := range m.Expiration {
		if c < '0' || c > '9' {
			return fmt.Errorf("--message-properties: expiration %q: want milliseconds, as a whole number", m.Expiration)
		}
	}
	headerStamp := s.Stamp == manifest.StampHeader || s.Stamp == manifest.StampPerfTest
	for i, h := range m.Headers {
		if headerStamp && h.Key == StampHeaderName {
			return fmt.Errorf("--message-properties: header %s carries the identity of a message with --stamp=%s; give yours another name", h.Key, s.Stamp)
		}
		if s.Stamp == manifest.StampPerfTest && s.PooledBodies && h.Key == perfTestHeader {
			return fmt.Errorf("--message-properties: header %s carries PerfTest's time with --stamp=%s and given bodies; give yours another name", h.Key, s.Stamp)
		}
		for _, before := range m.Headers[:i] {
			if before.Key == h.Key {
				return fmt.Errorf("--message-properties: header %s is given twice", h.Key)
			}
		}
	}
	if err := wire.CheckProperties(messageProperties(s), 0); err != nil {
		return fmt.Errorf("--message-properties: %w", err)
	}
	return nil
}
