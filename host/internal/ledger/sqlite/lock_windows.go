package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// errSharing is what Windows answers while another handle holds the file.
const errSharing = syscall.Errno(32)

// acquire opens the lock file without sharing it, until it is closed or the process ends.
func acquire(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	handle, err := syscall.CreateFile(
		name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0,
	)
	if errors.Is(err, errSharing) {
		return nil, ErrInUse
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(handle), path), nil
}

// syncFolder has nothing to do: Windows cannot open a folder to sync it.
func syncFolder(string) error { return nil }
