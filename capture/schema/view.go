package schema

import "unsafe"

// as views the bytes of a column's values as numbers, in the machine's byte order: big-endian machines are not supported
// by the recorder. The bytes must lie at a multiple of the number's size, as allocated columns do.
func as[T int32 | int64 | uint16 | uint32 | uint64](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}
