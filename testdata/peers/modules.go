package peers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// TakeModules links what the packages before this one compiled, in the folder that FASTREACT_TEST_CACHE names, into a
// folder of the caller's own. It returns false where nobody has compiled anything.
func TakeModules(cache string) (taken bool, err error) {
	shared := os.Getenv("FASTREACT_TEST_CACHE")
	if shared == "" {
		return false, nil
	}
	lock, err := os.Open(shared)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil { // somebody may be compiling
		return false, fmt.Errorf("lock %s: %w", shared, err)
	}
	entries, err := os.ReadDir(shared)
	if err != nil || len(entries) == 0 {
		return false, err
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return false, err
	}
	if out, err := exec.Command("cp", "-al", shared+"/.", cache).CombinedOutput(); err != nil {
		return false, fmt.Errorf("take compiled modules: %w: %s", err, out)
	}
	return true, nil
}
