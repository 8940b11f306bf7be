package host

import (
	"reflect"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/host/internal/wasm"
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

func TestTheConfigurationTakesEveryLimitUpToTheCeiling(t *testing.T) {
	highest := reflect.ValueOf(wasm.Ceiling())
	most := map[string]int64{}
	for _, field := range reflect.VisibleFields(highest.Type()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch value := highest.FieldByIndex(field.Index); {
		case value.CanUint():
			most[name] = int64(value.Uint())
		default:
			most[name] = value.Int()
		}
	}
	for _, config := range []reflect.Type{reflect.TypeFor[PluginLimitsConfig](), reflect.TypeFor[LimitsConfig]()} {
		for _, f := range fieldsOf(config) {
			if want, ofACall := most[f.key]; ofACall && f.bounds.most < want {
				t.Errorf("%s %s goes up to %d, and the ceiling is %d", config.Name(), f.key, f.bounds.most, want)
			}
		}
	}
}
