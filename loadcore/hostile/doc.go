// Package hostile plays a broker that cannot be trusted, for tests. It stands between a client and a real broker and changes what
// the broker says, frame by frame:
//
//	client ---------------------------------------------> broker
//	client <-- Say: dropped, changed, cut, invented <----- broker
//
// A test says what is changed (Say), or has it drawn from bytes (Program), as fuzzers want it.
package hostile
