package wire

import (
	"encoding/binary"
	"errors"
)

// Method is one AMQP method with its arguments: a pointer to one of this package's structures, such as *QueueDeclare.
// Arguments that the protocol reserves are written as zero and skipped when read. Each structure describes its
// arguments once, in visit, for reading and writing alike.
type Method interface {
	ID() MethodID       // the method's number; the same for every value of a structure
	visit(a *arguments) // walks the arguments in the order of the wire
}

// AppendMethod appends a whole method frame. It has no error to return: m has passed CheckMethod, or its strings and
// tables are known to be good; a short string of more than 255 bytes or a table with a value of a type that AMQP does
// not have panics. Reply texts are the exception, see ReplyText.
func AppendMethod(dst []byte, channel uint16, m Method) []byte {
	dst = beginFrame(dst, FrameMethod, channel)
	start := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, uint32(m.ID()))
	dst = AppendArgs(dst, m)
	return endFrame(dst, start)
}

// AppendArgs appends the arguments of m alone, without method id and frame. What AppendMethod says of m holds.
func AppendArgs(dst []byte, m Method) []byte {
	a := arguments{mode: writing, dst: dst}
	m.visit(&a)
	return a.dst
}

// ParseMethod reads the payload of a method frame. The result owns its memory. Errors: *UnknownMethodError,
// *SyntaxError; bytes left over behind the last argument are an error, too.
//
// It allocates. For what comes once a message use PeekMethod and the functions that read one method's arguments in
// place: ParseDeliver, ParsePublish, ParseAck and the like.
func ParseMethod(payload []byte) (Method, error) {
	id, args, err := PeekMethod(payload)
	if err != nil {
		return nil, err
	}
	k, ok := kinds[id]
	if !ok {
		return nil, &UnknownMethodError{ID: id}
	}
	m := k.make()
	a := arguments{mode: reading, r: reader{buf: args}}
	m.visit(&a)
	if !a.r.whole() {
		return nil, a.r.newSyntaxError(k.name)
	}
	return m, nil
}

// PeekMethod splits the payload of a method frame into the method's id, which may be one that this package does not
// know, and its arguments, which alias payload. The error is a *SyntaxError.
func PeekMethod(payload []byte) (id MethodID, args []byte, err error) {
	if len(payload) < 4 {
		return 0, nil, errShortMethod
	}
	return MethodID(binary.BigEndian.Uint32(payload)), payload[4:len(payload):len(payload)], nil
}

var errShortMethod error = &SyntaxError{Where: "method", Field: "class and method id", Reason: reasonShort}

// CheckMethod returns an error if m cannot be sent: a short string over 255 bytes or a method that does not fit into one
// frame of frameMax bytes (*LengthError; methods cannot be split; 0: no limit), or a table value of a type that AMQP
// does not have (*ValueError). Its text names method and argument.
func CheckMethod(m Method, frameMax uint32) error {
	a := arguments{mode: checking, where: m.ID().String()}
	m.visit(&a)
	if len(a.errs) > 0 {
		return errors.Join(a.errs...)
	}
	size := len(AppendArgs(nil, m)) + 4 + FrameOverhead
	if limit := max(frameMax, FrameMinSize); frameMax != 0 && uint64(size) > uint64(limit) {
		return &LengthError{What: a.where + " as one frame", Bytes: size, Limit: int(limit)}
	}
	return nil
}
