package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fastreact/fastreact/host/internal/trust"
)

// TrustConfig says whose signatures count.
type TrustConfig struct {
	Required bool             `key:"required" default:"false" about:"Load no plugin of plugins.load without a valid signature by one of the keys."`
	Keys     []TrustKeyConfig `key:"keys" about:"Public keys of the people whose plugins are loaded. Where any is listed, a signature by another key is refused."`
}

// TrustKeyConfig is one person's public key.
type TrustKeyConfig struct {
	Name          string `key:"name" default:"" about:"Whose key it is, for the log and for people."`
	PublicKey     string `key:"public_key" default:"" about:"The key itself: the text of the .pub file, or the line between its first and its last."`
	PublicKeyFile string `key:"public_key_file" default:"" about:"The .pub file that fastreact plugin keygen wrote."`

	Key trust.PublicKey // resolved from the keys above
}

// resolvePlugins reads the lock file and the public keys that the plugins section names. file is the configuration
// file, beside which a lock file may lie unnamed.
func (d *decoder) resolvePlugins(plugins *PluginsConfig, file string) {
	names := map[string]bool{}
	for i := range plugins.Trust.Keys {
		key, at := &plugins.Trust.Keys[i], element("plugins.trust.keys", i)
		if names[key.Name] && key.Name != "" {
			d.report(at+".name", fmt.Sprintf("%q stands there twice", key.Name), "give each key its own name")
		}
		names[key.Name] = true
		d.resolveKey(key, at)
	}
	plugins.LockFile = plugins.Lock
	if plugins.Lock == "" {
		plugins.LockFile = lockBeside(file)
	}
	if plugins.LockFile == "" {
		return
	}
	var err error
	if plugins.Pins, err = trust.ReadLock(plugins.LockFile); err != nil {
		d.report("plugins.lock", "cannot be used: "+err.Error(), "write it with `fastreact plugin lock`, or take the old one back")
	}
}

func (d *decoder) resolveKey(key *TrustKeyConfig, at string) {
	text, hint := []byte(key.PublicKey), "copy the .pub file that `fastreact plugin keygen` wrote"
	switch {
	case key.Name == "":
		d.report(at+".name", "is missing", "say whose key it is")
	case key.PublicKey != "" && key.PublicKeyFile != "":
		d.report(at+".public_key_file", "the key has two sources", "keep one of public_key and public_key_file")
		return
	case key.PublicKey == "" && key.PublicKeyFile == "":
		d.report(at+".public_key", "is missing", hint)
		return
	}
	var err error
	if key.PublicKeyFile != "" {
		if text, err = trust.ReadFile(key.PublicKeyFile, trust.MaxKeyBytes); err != nil {
			d.report(at+".public_key_file", "cannot be read: "+err.Error(), relativeHint)
			return
		}
	}
	if key.Key, err = trust.ParsePublic(text); err != nil {
		d.report(at, err.Error(), hint)
	}
}

// lockCandidates lists where a lock file is looked for that the configuration does not name.
func lockCandidates(file string) []string {
	if file == "" {
		return []string{trust.LockName}
	}
	return []string{filepath.Join(filepath.Dir(file), trust.LockName), trust.LockName}
}

// lockBeside returns the lock file beside the configuration file or in the working directory, empty for none.
func lockBeside(file string) string {
	for _, path := range lockCandidates(file) {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			return path // one that is there and cannot be read is a problem, not none
		}
	}
	return ""
}

// listed returns the public keys.
func (t TrustConfig) listed() []trust.PublicKey {
	var keys []trust.PublicKey
	for _, key := range t.Keys {
		keys = append(keys, key.Key)
	}
	return keys
}

// nameOf returns whose key it is.
func (t TrustConfig) nameOf(id trust.KeyID) string {
	for _, key := range t.Keys {
		if key.Key.ID() == id {
			return key.Name
		}
	}
	return ""
}

// pinOf returns the digest that the entry or the lock file pins, empty for none, or a problem when they differ.
func (c PluginsConfig) pinOf(entry PluginConfig) (trust.Digest, error) {
	locked, there := c.Pins.Pin(entry.Path)
	if entry.SHA256 == "" {
		return locked, nil
	}
	own, err := trust.ParseDigest(entry.SHA256)
	if err != nil {
		return "", err
	}
	if there && locked != own {
		return "", fmt.Errorf("the entry pins %s and %s pins %s", own, c.LockFile, locked)
	}
	return own, nil
}

func (c Config) validateTrust(report reporter) {
	if c.Plugins.Trust.Required && len(c.Plugins.Trust.Keys) == 0 {
		report("plugins.trust.required", "asks for signatures, and no key is listed", "list the keys whose signatures count in plugins.trust.keys")
	}
}
