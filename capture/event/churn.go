package event

// ChurnStep is one step of an operation that makes something at the broker and undoes it: one request and its answer, or what
// it takes to open a connection.
type ChurnStep uint8

// Part of the format: the numbers are written to the churn file.
const (
	StepTCP       ChurnStep = iota + 1 // name lookup and TCP connection
	StepTLS                            // TLS handshake
	StepHandshake                      // AMQP: from the protocol header to connection.open-ok, login included
	StepChannelOpen
	StepQueueDeclare
	StepQueueBind
	StepConsume
	// The following undo.
	StepCancel
	StepQueueUnbind
	StepQueueDelete
	StepChannelClose
	StepConnectionClose
)

// LastChurnStep is the highest number of a step.
const LastChurnStep = StepConnectionClose

var churnSteps = [...]string{"", "tcp connect", "tls handshake", "amqp handshake", "channel.open", "queue.declare", "queue.bind", "basic.consume",
	"basic.cancel", "queue.unbind", "queue.delete", "channel.close", "connection.close"}

// String is the step's name, that of the request where it is one.
func (s ChurnStep) String() string {
	if s > 0 && int(s) < len(churnSteps) {
		return churnSteps[s]
	}
	return "unknown"
}

// Undoes tells whether the step belongs to the undoing of an operation.
func (s ChurnStep) Undoes() bool { return s >= StepCancel }

// ChurnOutcome is how a step ended.
type ChurnOutcome uint8

// Part of the format: the numbers are written to the churn file.
const (
	StepDone     ChurnOutcome = iota + 1
	StepRefused               // the broker answered with an error
	StepLost                  // there was no connection to be had, or it was lost before the answer
	StepTimedOut              // no answer within the time that an operation has for it
	StepNotBegun              // it was due, and the load ended before it could begin
)

var churnOutcomes = [...]string{"", "done", "refused", "lost", "timed out", "not begun"}

func (o ChurnOutcome) String() string {
	if o > 0 && int(o) < len(churnOutcomes) {
		return churnOutcomes[o]
	}
	return "unknown"
}

// Churn is one step of one operation.
type Churn struct {
	Op      uint64 // number of the operation, from 0, in the order in which they were due
	Step    ChurnStep
	Outcome ChurnOutcome
	// Last: with this step all was made, or all was undone.
	Last bool
	// Due is when the schedule wanted the operation; None in closed loop, and for steps that undo.
	Due int64
	// Started is the clock when the making, or the undoing, began, Begun when this step did; None where it never began.
	Started, Begun int64
	// Ended is the clock after the read call that brought the answer, or when it was given up.
	Ended int64
	Code  uint16 // AMQP reply code, 0 where there is none
	Text  string // the broker's text, or the cause; "" where the step was done. Never holds a password
}
