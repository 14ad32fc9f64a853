//go:build !windows

package main

const shellName, shellFlag = "/bin/sh", "-c"
