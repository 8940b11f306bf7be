package wasm

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental/sysfs"

	"github.com/fastreact/fastreact/host/internal/capability"
	"github.com/fastreact/fastreact/sdk"
)

// workspaceGrant is the word in a grant's path that means the run's own workspace.
const workspaceGrant = "workspace"

// mount is a file grant that the manifest requested and the operator gave.
type mount struct {
	path string // host folder, or workspaceGrant
	at   string
	mode sdk.FileMode
}

// intersect returns what was both requested and granted: the same place, the stricter mode.
func intersect(requested, granted []sdk.FileAccess) ([]mount, error) {
	var mounts []mount
	seen := map[string]bool{}
	for n, grant := range granted {
		if err := checkGrant(grant); err != nil {
			return nil, fmt.Errorf("grants.files[%d]: %w", n, err)
		}
		if seen[grant.At] {
			return nil, fmt.Errorf("grants.files[%d].at: %q stands there twice", n, grant.At)
		}
		seen[grant.At] = true
		for _, request := range requested {
			if request.At != grant.At {
				continue
			}
			mode := sdk.ReadOnly
			if request.Mode == sdk.ReadWrite && grant.Mode == sdk.ReadWrite {
				mode = sdk.ReadWrite
			}
			mounts = append(mounts, mount{grant.Path, grant.At, mode})
		}
	}
	return mounts, nil
}

func checkGrant(grant sdk.FileAccess) error {
	if err := grant.Validate(); err != nil {
		return err
	}
	if grant.Path == workspaceGrant {
		return nil
	}
	if !filepath.IsAbs(grant.Path) {
		return fmt.Errorf("path: %q is neither absolute nor the word %s", grant.Path, workspaceGrant)
	}
	info, err := os.Stat(grant.Path)
	if err != nil {
		return fmt.Errorf("path: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("path: %s is not a folder", grant.Path)
	}
	return nil
}

// openMounts opens the folders of one call. A workspace grant without a workspace opens nothing. close is never nil.
func openMounts(mounts []mount, cc CallContext) (files wazero.FSConfig, closeAll func(), err error) {
	var roots []*capability.Root
	closeAll = func() {
		for _, root := range roots {
			_ = root.Close()
		}
	}
	files = wazero.NewFSConfig()
	for _, m := range mounts {
		var account *capability.Account
		if m.path == workspaceGrant {
			m.path, account = cc.Workspace, cc.Account
			if cc.ReadOnly {
				m.mode = sdk.ReadOnly
			}
		}
		if m.path == "" {
			continue
		}
		root, err := capability.OpenRoot(m.path, m.mode, account)
		if err != nil {
			closeAll()
			return nil, func() {}, fmt.Errorf("open files at %s: %w", m.at, err)
		}
		roots = append(roots, root)
		files = files.(sysfs.FSConfig).WithSysFSMount(root, m.at)
	}
	return files, closeAll, nil
}
