package wasm

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

// Modules that a guest may import from.
const (
	moduleWASI = "wasi_snapshot_preview1"
	moduleLog  = "fastreact:log/1"
	moduleEmit = "fastreact:emit/1"
	moduleHTTP = "fastreact:http/1"
	moduleKV   = "fastreact:kv/1"
)

// Capability ids, as Inspect shows them.
const (
	capabilityFiles    = "files"
	capabilityHTTP     = "http"
	capabilityKV       = "kv"
	capabilityLog      = "log"
	capabilityProgress = "progress"
	capabilitySecrets  = "secrets"
)

// capabilities lists every capability id. That of secrets has no import of its own: it shows in requests of http.
func capabilities() []string {
	return []string{capabilityFiles, capabilityHTTP, capabilityKV, capabilityLog, capabilityProgress, capabilitySecrets}
}

// baseFunctions lists the WASI functions that are no capability. A Go guest of the standard toolchain links sixteen
// of them whatever it does; a C guest adds fd_seek. The fd_ functions among them work on open descriptors only, and
// without the file functions there is none but the three standard streams: empty input, and output that goes to the
// log.
func baseFunctions() []string {
	return []string{
		"args_get", "args_sizes_get", "clock_res_get", "clock_time_get", "environ_get", "environ_sizes_get",
		"fd_close", "fd_fdstat_get", "fd_fdstat_set_flags", "fd_prestat_dir_name", "fd_prestat_get", "fd_read",
		"fd_seek", "fd_write", "poll_oneoff", "proc_exit", "random_get", "sched_yield",
	}
}

// fileFunctions lists the WASI functions that the capability files grants.
func fileFunctions() []string {
	return []string{
		"fd_advise", "fd_allocate", "fd_datasync", "fd_fdstat_set_rights", "fd_filestat_get",
		"fd_filestat_set_size", "fd_filestat_set_times", "fd_pread", "fd_pwrite", "fd_readdir", "fd_renumber",
		"fd_sync", "fd_tell", "path_create_directory", "path_filestat_get", "path_filestat_set_times", "path_link",
		"path_open", "path_readlink", "path_remove_directory", "path_rename", "path_symlink", "path_unlink_file",
	}
}

// capabilityOf names the capability that an import belongs to: "" for the base set. known is false for an import
// that no host serves.
func (i imported) capability() (id string, known bool) {
	if i.kind != kindFunction {
		return "", false
	}
	switch {
	case i.module == moduleLog && i.name == "write":
		return capabilityLog, true
	case i.module == moduleEmit && i.name == "chunk":
		return capabilityProgress, true
	case i.module == moduleHTTP && i.name == "send":
		return capabilityHTTP, true
	case i.module == moduleKV && slices.Contains([]string{"get", "set", "delete"}, i.name):
		return capabilityKV, true
	case i.module == moduleExtism:
		function, there := extismFunctions()[i.name]
		return function.capability, there
	case i.module == moduleWASI && slices.Contains(baseFunctions(), i.name):
		return "", true
	case i.module == moduleWASI && slices.Contains(fileFunctions(), i.name):
		return capabilityFiles, true
	}
	return "", false
}

// checkImports refuses every import that the kind forbids or the grants do not cover. Log is granted to all: it is
// output only, and its answer is always the same.
func (s *shape) checkImports(manifest sdk.Manifest, mounts []mount, progress int, r reach) error {
	var problems []error
	var files []string
	for _, i := range s.imports {
		id, known := i.capability()
		if !known {
			problems = append(problems, unknownImport(i))
		}
		if id == capabilityProgress && progress == 0 {
			problems = append(problems, missingProgress(manifest))
		}
		if id == capabilityHTTP && len(r.http) == 0 {
			problems = append(problems, missingHTTP(manifest, i))
		}
		if id == capabilityKV && r.kv == 0 {
			problems = append(problems, missingKV(manifest, i))
		}
		if id == capabilityFiles {
			files = append(files, i.name)
		}
	}
	if len(files) > 0 && len(mounts) == 0 {
		problems = append(problems, missingFiles(manifest, files))
	}
	return errors.Join(problems...)
}

func unknownImport(i imported) error {
	id := strings.TrimPrefix(i.module, "fastreact:")
	return fmt.Errorf("import %s %s: capability %q does not exist on this host, so no line in the config and nobody can grant it; the author must build without it",
		i.module, i.name, id)
}

func missingProgress(manifest sdk.Manifest) error {
	switch want := manifest.Capabilities.Progress; {
	case manifest.Kind.Pure():
		return fmt.Errorf("import %s chunk: capability %q is never granted to a %s, nobody can add it; the author must build without guest.WithProgress",
			moduleEmit, capabilityProgress, manifest.Kind)
	case want == nil:
		return fmt.Errorf("import %s chunk: capability %q is not requested; the author adds capabilities.progress to the manifest, then the operator may grant it in plugins.load[].grants",
			moduleEmit, capabilityProgress)
	default:
		return fmt.Errorf("import %s chunk: capability %q is not granted; the operator may add to this plugin's entry in plugins.load: grants: {progress: {bytes: %d}}",
			moduleEmit, capabilityProgress, want.Bytes)
	}
}

func missingFiles(manifest sdk.Manifest, names []string) error {
	list := strings.Join(names, ", ")
	if manifest.Kind.Pure() {
		return fmt.Errorf("import %s %s: capability %q is never granted to a %s, nobody can add it; the author must build without package os's file functions",
			moduleWASI, list, capabilityFiles, manifest.Kind)
	}
	if len(manifest.Capabilities.Files) == 0 {
		return fmt.Errorf("import %s %s: capability %q is not requested; the author adds capabilities.files to the manifest, then the operator may grant it in plugins.load[].grants",
			moduleWASI, list, capabilityFiles)
	}
	want := manifest.Capabilities.Files[0]
	return fmt.Errorf(`import %s %s: capability %q is not granted; the operator may add to this plugin's entry in plugins.load: grants: {files: [{path: workspace, at: %q, mode: %s}]}`,
		moduleWASI, list, capabilityFiles, want.At, want.Mode)
}
