package broker

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"leveret/loadcore/wire"
)

// amqpError is why a channel or a connection is closed.
type amqpError struct {
	code   wire.ReplyCode
	text   string        // with the code's name before it, as RabbitMQ writes it
	method wire.MethodID // what caused it; 0: no method
	hard   bool          // closes the connection
	silent bool          // the client is not told: it has not announced that it understands
}

func (e *amqpError) Error() string { return strconv.Itoa(int(e.code)) + " " + e.text }

func soft(code wire.ReplyCode, format string, args ...any) *amqpError {
	return &amqpError{code: code, text: code.String() + " - " + fmt.Sprintf(format, args...)}
}

func hard(code wire.ReplyCode, format string, args ...any) *amqpError {
	e := soft(code, format, args...)
	e.hard = true
	return e
}

// by names the method that caused the error, unless it is known.
func (e *amqpError) by(id wire.MethodID) *amqpError {
	if e != nil && e.method == 0 {
		e.method = id
	}
	return e
}

// The rest of this file writes values the way RabbitMQ's texts show them: as Erlang terms.

// typeName is RabbitMQ's name of a field's type.
func typeName(v any) string {
	switch v.(type) {
	case bool:
		return "bool"
	case int8:
		return "byte"
	case uint8:
		return "unsignedbyte"
	case int16:
		return "short"
	case uint16:
		return "unsignedshort"
	case int32:
		return "signedint"
	case uint32:
		return "unsignedint"
	case int64:
		return "long"
	case float32:
		return "float"
	case float64:
		return "double"
	case wire.Decimal:
		return "decimal"
	case string:
		return "longstr"
	case []byte:
		return "binary"
	case []any:
		return "array"
	case wire.Timestamp:
		return "timestamp"
	case wire.Table:
		return "table"
	}
	return "void"
}

// termText is the value alone, numbers and names bare.
func termText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case nil:
		return "undefined"
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// valueText is the value in quotes.
func valueText(v any) string { return "'" + termText(v) + "'" }

// typedText is the value with its type, or that there is none.
func typedText(v any, present bool) string {
	if !present {
		return "none"
	}
	return "the value '" + termText(v) + "' of type '" + typeName(v) + "'"
}

// binaryText is a byte string as Erlang prints it: as text where all of it can be printed, else as numbers.
func binaryText(b []byte) string {
	if len(b) == 0 {
		return "<<>>"
	}
	var s strings.Builder
	s.WriteString("<<")
	if printable(b) {
		s.WriteString(strconv.Quote(string(b)))
	} else {
		for i, c := range b {
			if i > 0 {
				s.WriteByte(',')
			}
			s.WriteString(strconv.Itoa(int(c)))
		}
	}
	s.WriteString(">>")
	return s.String()
}

func printable(b []byte) bool {
	for _, c := range b {
		if (c < ' ' && (c < '\b' || c > '\r') && c != 0x1b) || c == 0x7f {
			return false
		}
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// snippet describes a frame's payload for the texts of frame errors.
func snippet(payload []byte) string {
	if len(payload) <= 16 {
		return "all octets = " + binaryText(payload)
	}
	return "first 16 octets = " + binaryText(payload[:16])
}

// generatedName is a name that the server gives, like RabbitMQ's: the prefix and 22 characters.
func generatedName(prefix string) string {
	var b [16]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}
