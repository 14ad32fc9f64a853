package wire

import (
	"fmt"
	"io"
)

// The three methods that carry credentials print without them, whatever the verb, so that a log line or an error that
// shows a method cannot give them away. Nothing hides what the fields themselves hold.

func (m ConnectionStartOk) Format(f fmt.State, _ rune) {
	printHidden(f, m.ID(), fmt.Sprintf("mechanism %q, response", m.Mechanism))
}

func (m ConnectionSecureOk) Format(f fmt.State, _ rune) { printHidden(f, m.ID(), "response") }

func (m ConnectionUpdateSecret) Format(f fmt.State, _ rune) { printHidden(f, m.ID(), "new secret") }

func printHidden(f fmt.State, id MethodID, what string) {
	_, _ = io.WriteString(f, fmt.Sprintf("%s(%s hidden)", id, what)) // fmt keeps its own buffer and cannot fail
}
