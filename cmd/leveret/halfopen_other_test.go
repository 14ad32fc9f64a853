//go:build !linux

package main

const asHalfOpen = "LEVERET_TEST_HALF_OPEN"

func halfOpenMain(string, string) int { return exitUsage }
