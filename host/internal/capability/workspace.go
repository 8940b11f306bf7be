package capability

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const maxFolderName = 200 // bytes

// Workspace makes and returns the folder of one user of one tenant: root/<tenant>/<user>, open to this process's user
// alone. Different pairs have different folders, on file systems that ignore case too. An empty tenant is a tenant, and
// callers of it that name no user are one user: they share a folder.
func Workspace(root, tenant, user string) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	dir := root
	for _, name := range []string{folderName(tenant), folderName(user)} {
		dir = filepath.Join(dir, name)
		if err := privateFolder(dir); err != nil {
			return "", fmt.Errorf("workspace: %w", err)
		}
	}
	return dir, nil
}

func privateFolder(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	if info.Mode().Perm() != 0o700 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// folderName encodes a key injectively with a-z, 0-9, - and _: every other byte becomes _ and two hex digits. A name
// that would be too long becomes __ and its digest; _ alone stands for the empty key. Neither is a key's encoding.
func folderName(key string) string {
	if key == "" {
		return "_"
	}
	var name strings.Builder
	for i := range len(key) {
		switch c := key[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-':
			name.WriteByte(c)
		default:
			fmt.Fprintf(&name, "_%02x", c)
		}
	}
	if name.Len() > maxFolderName {
		sum := sha256.Sum256([]byte(key))
		return "__" + hex.EncodeToString(sum[:])
	}
	return name.String()
}
