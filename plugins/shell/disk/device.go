package disk

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"
)

// device returns the device or file in memory of that name, or nil.
func (d *Disk) device(name string) io.ReadWriteCloser {
	switch name = path.Clean(name); name {
	case "/dev/null":
		return device{bytes.NewReader(nil)}
	case "/dev/zero":
		return device{zeros{}}
	case "/dev/urandom", "/dev/random":
		return device{rand.Reader}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if data, there := d.virtual[name]; there {
		return device{bytes.NewReader(data)}
	}
	return nil
}

// device reads from its source and swallows what is written.
type device struct{ io.Reader }

func (device) Write(data []byte) (int, error) { return len(data), nil }

func (device) Close() error { return nil }

type zeros struct{}

func (zeros) Read(data []byte) (int, error) {
	clear(data)
	return len(data), nil
}

// maxVirtual bounds what one process substitution keeps in memory.
const maxVirtual = 16 << 20

// Keep stores all of r in memory and returns the path under which it can be read during this call.
func (d *Disk) Keep(r io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxVirtual+1))
	if err != nil {
		return "", err
	}
	if len(data) > maxVirtual {
		return "", errors.New("the output of a process substitution is larger than 16 MiB; use a file")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	name := fmt.Sprintf("/dev/fd/%d", 63-len(d.virtual)) // as bash names them
	if len(d.virtual) > 50 {
		name = fmt.Sprintf("/dev/fd/%d", 63+len(d.virtual))
	}
	d.virtual[name] = data
	return name, nil
}

// InMemory reports whether a path names a device or a file in memory.
func (d *Disk) InMemory(name string) bool { return d.deviceInfo(name) != nil }

func (d *Disk) deviceInfo(name string) fs.FileInfo {
	clean := path.Clean(name)
	switch clean {
	case "/dev/null", "/dev/zero", "/dev/urandom", "/dev/random":
		return deviceInfo{name: path.Base(clean), mode: fs.ModeDevice | fs.ModeCharDevice | 0o666}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if data, there := d.virtual[clean]; there {
		return deviceInfo{name: path.Base(clean), mode: fs.ModeNamedPipe | 0o600, size: int64(len(data))}
	}
	return nil
}

type deviceInfo struct {
	name string
	mode fs.FileMode
	size int64
}

func (i deviceInfo) Name() string       { return i.name }
func (i deviceInfo) Size() int64        { return i.size }
func (i deviceInfo) Mode() fs.FileMode  { return i.mode }
func (i deviceInfo) ModTime() time.Time { return time.Unix(0, 0).UTC() }
func (i deviceInfo) IsDir() bool        { return false }
func (i deviceInfo) Sys() any           { return nil }
