package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"github.com/fastreact/fastreact/sdk/c"
)

// ErrNoClang reports that a plugin in C cannot be built here.
var ErrNoClang = errors.New("clang was not found; a plugin in C needs clang and lld, and wasi-libc for C library headers (Debian: apt-get install clang lld wasi-libc)")

// libraryHeader is an include of a header that only a C library has. The compiler brings the others along.
const libraryHeader = `(?m)^[ \t]*#[ \t]*include[ \t]*<(assert|ctype|errno|inttypes|locale|math|setjmp|signal|stdio|stdlib|string|strings|time|wchar|wctype|unistd)\.h>`

// compileC compiles the C files in dir into one reactor. Only sources that include headers of a C library are linked
// with wasi-libc, so that what a module imports depends on nothing but its sources.
func compileC(ctx context.Context, dir string, sources []string, output string) error {
	clang, err := exec.LookPath("clang")
	if err != nil {
		return ErrNoClang
	}
	headers := filepath.Dir(output)
	if err := os.WriteFile(filepath.Join(headers, c.HeaderFile), []byte(c.Header()), 0o600); err != nil {
		return fmt.Errorf("place %s: %w", c.HeaderFile, err)
	}
	target, err := targetOf(dir, sources)
	if err != nil {
		return err
	}
	args := append([]string{
		"-O2", "-std=c11", "-Wall", "-Wextra", "-Werror=implicit-function-declaration", "-mbulk-memory",
		"-ffile-prefix-map=" + headers + "=.", "-I" + headers, "-Wl,--stack-first", "-Wl,-z,stack-size=65536", "-Wl,--strip-debug",
	}, target...)
	command := exec.CommandContext(ctx, clang, append(append(args, "-o", output), afterSources(target, sources)...)...)
	command.Dir = dir
	if text, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("clang: %w\n%s%s", err, bytes.TrimSpace(text), adviceFor(text))
	}
	return nil
}

// targetOf chooses the platform.
func targetOf(dir string, sources []string) ([]string, error) {
	library := regexp.MustCompile(libraryHeader)
	for _, name := range sources {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("read source: %w", err)
		}
		if library.Match(text) {
			return []string{"--target=wasm32-wasi", "-mexec-model=reactor", "-nodefaultlibs"}, nil
		}
	}
	return []string{"--target=wasm32-unknown-unknown", "-ffreestanding", "-nostdlib", "-Wl,--no-entry"}, nil
}

// afterSources lists the sources, and after them the library that they are linked with.
func afterSources(target, sources []string) []string {
	if target[0] == "--target=wasm32-wasi" {
		return append(sources[:len(sources):len(sources)], "-lc")
	}
	return sources
}

// adviceFor explains what the compiler's words do not.
func adviceFor(output []byte) string {
	switch {
	case bytes.Contains(output, []byte("wasm-ld")) && (bytes.Contains(output, []byte("doesn't exist")) || bytes.Contains(output, []byte("unable to execute"))):
		return "\nThe linker is missing: install lld (Debian: apt-get install lld)."
	case bytes.Contains(output, []byte("file not found")) || bytes.Contains(output, []byte("crt1-reactor.o")):
		return "\nHeaders of the C library come with wasi-libc (Debian: apt-get install wasi-libc)."
	}
	return ""
}
