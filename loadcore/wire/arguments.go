package wire

import "encoding/binary"

type mode byte

const (
	reading  mode = iota // from r into the method
	writing              // from the method to dst
	checking             // whether writing is possible
)

// arguments walks the arguments of one method in the order of the protocol's definition. One description of a method
// serves reading, writing and checking, so the two ends cannot drift apart.
type arguments struct {
	mode  mode
	dst   []byte
	r     reader
	where string // checking: the method
	errs  []error
}

// at names what is read next, for the error.
func (a *arguments) at(name string) {
	if !a.r.bad {
		a.r.field = name
	}
}

func (a *arguments) octet(name string, v *byte) {
	switch a.mode {
	case reading:
		a.at(name)
		*v = a.r.u8()
	case writing:
		a.dst = append(a.dst, *v)
	}
}

func (a *arguments) short(name string, v *uint16) {
	switch a.mode {
	case reading:
		a.at(name)
		*v = a.r.u16()
	case writing:
		a.dst = binary.BigEndian.AppendUint16(a.dst, *v)
	}
}

func (a *arguments) code(v *ReplyCode) { a.short("reply-code", (*uint16)(v)) }

func (a *arguments) long(name string, v *uint32) {
	switch a.mode {
	case reading:
		a.at(name)
		*v = a.r.u32()
	case writing:
		a.dst = binary.BigEndian.AppendUint32(a.dst, *v)
	}
}

func (a *arguments) longlong(name string, v *uint64) {
	switch a.mode {
	case reading:
		a.at(name)
		*v = a.r.u64()
	case writing:
		a.dst = binary.BigEndian.AppendUint64(a.dst, *v)
	}
}

// bits packs up to eight flags into one octet, the first into the lowest bit. Consecutive bit arguments share an octet
// by the protocol's rule, so they have to be given in one call.
func (a *arguments) bits(name string, v ...*bool) {
	switch a.mode {
	case reading:
		a.at(name)
		octet := a.r.u8()
		for i, p := range v {
			*p = octet>>i&1 != 0
		}
	case writing:
		var octet byte
		for i, p := range v {
			octet |= bit(*p, uint(i))
		}
		a.dst = append(a.dst, octet)
	}
}

func (a *arguments) shortstr(name string, v *string) {
	switch a.mode {
	case reading:
		a.at(name)
		*v = string(a.r.short())
	case writing:
		a.dst = appendShort(a.dst, *v)
	case checking:
		if err := CheckShortString(a.where+": "+name, *v); err != nil {
			a.errs = append(a.errs, err)
		}
	}
}

// text is a short string for people, cut to fit when written.
func (a *arguments) text(name string, v *string) {
	switch a.mode {
	case reading:
		a.shortstr(name, v)
	case writing:
		a.dst = appendShort(a.dst, ReplyText(*v))
	}
}

func (a *arguments) longstr(name string, v *string) {
	switch a.mode {
	case reading:
		a.at(name)
		*v = string(a.r.long())
	case writing:
		a.dst = appendLong(a.dst, *v)
	}
}

func (a *arguments) table(name string, v *Table) {
	switch a.mode {
	case reading:
		a.at(name)
		*v = a.r.table(0)
	case writing:
		a.dst = AppendTable(a.dst, *v)
	case checking:
		if err := checkTable(a.where+": "+name, *v, 0); err != nil {
			a.errs = append(a.errs, err)
		}
	}
}

// Reserved arguments are zero on the wire and of no interest when read.

func (a *arguments) reservedShort()    { a.short("reserved", new(uint16)) }
func (a *arguments) reservedShortstr() { a.shortstr("reserved", new(string)) }
func (a *arguments) reservedLongstr()  { a.longstr("reserved", new(string)) }

// noArgs is embedded by methods that have no arguments.
type noArgs struct{}

func (noArgs) visit(*arguments) {}
