package main

const shellName, shellFlag = "cmd", "/C"
