//go:build !linux

package loadcore

// localPorts are not known here: running out of them is seen when it happens.
func localPorts() (low, high int, known bool) { return 0, 0, false }

// choosePortLate is something that only Linux has.
func choosePortLate(uintptr) {}
