package main

import "github.com/extism/go-pdk"

//go:wasmexport evaluate
func evaluate() int32 {
	word, err := judge(pdk.Input())
	if err == nil {
		err = pdk.OutputJSON(word)
	}
	if err != nil {
		pdk.SetError(err)
		return 1
	}
	return 0
}
