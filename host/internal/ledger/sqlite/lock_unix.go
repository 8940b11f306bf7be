//go:build !windows

package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// acquire locks the lock file until it is closed or the process ends. The file itself stays: removing it would let
// two processes lock two files of one name.
func acquire(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return file, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrInUse
	}
	return nil, errors.Join(err, file.Close())
}

// syncFolder makes the names in a folder survive a power cut.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
