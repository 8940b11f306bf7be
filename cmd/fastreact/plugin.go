package main

import "github.com/spf13/cobra"

func newPlugin(p program) *cobra.Command {
	return newGroup("plugin", "Build, try and review WebAssembly plugins",
		newPluginNew(p), newPluginBuild(p), newPluginTest(p), newPluginBench(p), newPluginInspect(p), newPluginDiff(p),
		newPluginKeygen(p), newPluginSign(p), newPluginVerify(p), newPluginLock(p))
}
