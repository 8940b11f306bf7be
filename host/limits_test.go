package host

import (
	"reflect"
	"testing"

	"github.com/fastreact/fastreact/testdata/hostile"
)

func TestEveryLimitOfPluginsInTheConfigurationHasAHostileModule(t *testing.T) {
	probes, err := hostile.Probes()
	if err != nil {
		t.Fatal(err)
	}
	crossed := map[string]bool{}
	for _, probe := range probes {
		crossed[probe.Limit] = true
	}
	for _, config := range []reflect.Type{reflect.TypeFor[PluginLimitsConfig](), reflect.TypeFor[LimitsConfig]()} {
		for _, field := range reflect.VisibleFields(config) {
			if name := field.Tag.Get("key"); !crossed[name] {
				t.Errorf("no module of testdata/hostile says that it crosses %s", name)
			}
		}
	}
}
