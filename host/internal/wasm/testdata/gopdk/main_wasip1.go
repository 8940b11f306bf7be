// Command gopdk is an Extism module as its Go PDK makes it: some tools that use every part of the guest ABI, files too.
package main

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/extism/go-pdk"
)

//go:wasmexport echo
func echo() int32 {
	pdk.Output(pdk.Input())
	return 0
}

//go:wasmexport vowels
func vowels() int32 {
	count := 0
	for _, letter := range pdk.InputString() {
		if strings.ContainsRune("aeiouAEIOU", letter) {
			count++
		}
	}
	pdk.Log(pdk.LogInfo, "counted")
	if err := pdk.OutputJSON(map[string]int{"count": count}); err != nil {
		pdk.SetError(err)
		return 1
	}
	return 0
}

//go:wasmexport setting
func setting() int32 {
	value, there := pdk.GetConfig(pdk.InputString())
	if !there {
		value = "none"
	}
	pdk.OutputString(value)
	return 0
}

//go:wasmexport remember
func remember() int32 {
	word := func() string {
		if value := pdk.GetVar("last"); value != nil {
			return string(value)
		}
		return "nothing"
	}
	before := word()
	pdk.SetVar("last", pdk.Input())
	pdk.OutputString(before + ", then " + word())
	return 0
}

//go:wasmexport fails
func fails() int32 {
	pdk.SetError(errors.New("the secret is canary-4711"))
	return 1
}

//go:wasmexport panics
func panics() int32 { panic("the secret is canary-4711") }

//go:wasmexport spins
func spins() int32 {
	for {
	}
}

//go:wasmexport read
func read() int32 {
	content, err := os.ReadFile(pdk.InputString())
	if err != nil {
		pdk.SetError(err)
		return 1
	}
	pdk.Output(content)
	return 0
}

//go:wasmexport fetch
func fetch() int32 {
	response := pdk.NewHTTPRequest(pdk.MethodGet, pdk.InputString()).Send()
	pdk.OutputString(strconv.Itoa(int(response.Status())) + " " + string(response.Body()) + " " + response.Headers()["x-kind"])
	return 0
}

func main() {}
