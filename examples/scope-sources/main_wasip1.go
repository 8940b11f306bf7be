package main

import "github.com/fastreact/fastreact/sdk/guest"

func init() { guest.ServeScoper(scoper{}) }
