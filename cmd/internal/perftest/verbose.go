package perftest

import (
	"fmt"
	"strings"
)

// The lines of the verbose modes, one an event. A timestamp is in the unit that the caller has; a publishing ID is what the
// broker's confirms count by: the number of the message on its channel, from 1.

// Published is the line of a message that was sent; details as Details gives them, or "".
func Published(producer int, timestamp int64, id uint64, details string) string {
	return fmt.Sprintf("publisher %d: message published, timestamp = %d, publishing ID = %d%s", producer, timestamp, id, details)
}

// ConfirmFrame is the line of a frame that settled messages, the last of them id; kind is ack, nack or commit.
func ConfirmFrame(producer int, kind string, id uint64, messages uint32) string {
	return fmt.Sprintf("publisher %d: publish confirm, type = %s, publishing ID = %d, confirm count = %d", producer, kind, id, messages)
}

// Settled is the line of a message that was settled.
func Settled(producer int, kind string, timestamp int64, id uint64) string {
	return fmt.Sprintf("publisher %d: message confirmed, type = %s, timestamp = %d, publishing ID = %d", producer, kind, timestamp, id)
}

// Returned is the line of a message that came back as it reached no queue. PerfTest has none.
func Returned(producer int, timestamp int64, id uint64) string {
	return fmt.Sprintf("publisher %d: message returned, timestamp = %d, publishing ID = %d", producer, timestamp, id)
}

// InDoubt is the line of a message whose channel was lost before it was settled. PerfTest has none.
func InDoubt(producer int, timestamp int64, id uint64) string {
	return fmt.Sprintf("publisher %d: message in doubt, timestamp = %d, publishing ID = %d", producer, timestamp, id)
}

// Received is the line of a delivery.
func Received(consumer int, timestamp int64, tag uint64, details string) string {
	return fmt.Sprintf("consumer %d: received message, timestamp = %d, delivery tag = %d%s", consumer, timestamp, tag, details)
}

// Acknowledged is the line of what a consumer acknowledged, up to tag.
func Acknowledged(consumer int, timestamp int64, tag uint64, messages uint32) string {
	return fmt.Sprintf("consumer %d: acknowledged message(s), timestamp = %d, delivery tag = %d, message count = %d", consumer, timestamp, tag, messages)
}

// Details is what the full mode adds: properties, each "name = value", and what the body holds.
func Details(properties []string, body string) string {
	return ", properties = {" + strings.Join(properties, ", ") + "}, body = " + body
}
