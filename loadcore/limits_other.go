//go:build !unix

package loadcore

// raiseDescriptors: there is no such limit here.
func raiseDescriptors(uint64) (limit uint64, known bool) { return 0, false }
