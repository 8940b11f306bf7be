package host

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/fastreact/fastreact/testdata/peers"
)

func TestDoctorLeavesAnOlderSchemaToTheService(t *testing.T) {
	peers.Need(t, "sqlite3")
	config := DefaultConfig()
	config.Store.Path = filepath.Join(t.TempDir(), "ledger.db")
	if _, err := MigrateStore(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	change := exec.Command("sqlite3", config.Store.Path, "DELETE FROM migrations WHERE version > 8")
	if out, err := change.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if found := examineStore(t.Context(), Options{Config: config}); found.Health != Degrade || found.Do != byItself {
		t.Errorf("%+v", found)
	}
	if schema, err := StoreSchema(t.Context(), config); err != nil || schema.Found != 8 {
		t.Errorf("%+v %v", schema, err)
	}
}
