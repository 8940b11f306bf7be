package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/host"
)

func newPluginKeygen(p program) *cobra.Command {
	out, force, asJSON := "", false, false
	command := &cobra.Command{
		Use: "keygen", Short: "Make a key that signs plugins", Args: exactly(),
		Long: "Writes PREFIX.key, which signs and which nobody else may read, and PREFIX.pub, which operators list in\n" +
			"plugins.trust.keys. A key that is there already is kept.",
		RunE: func(*cobra.Command, []string) error { return keygen(p, out, force, asJSON) },
	}
	command.Flags().StringVar(&out, "out", "fastreact-plugin", "prefix of the two files")
	command.Flags().BoolVar(&force, "force", false, "overwrite a key that is there; what it signed cannot be signed again")
	jsonFlag(command, &asJSON)
	return command
}

func keygen(p program, prefix string, force, asJSON bool) error {
	private, public := prefix+".key", prefix+".pub"
	for _, path := range []string{private, public} {
		if _, err := os.Lstat(path); !force && !errors.Is(err, fs.ErrNotExist) {
			return advice{fmt.Errorf("%s is there already", path), "Name another prefix with --out, or overwrite the key with --force."}
		}
	}
	pair, err := host.GenerateKey()
	if err != nil {
		return err
	}
	if err := host.WriteFile(private, pair.Private, true); err != nil {
		return err
	}
	if err := host.WriteFile(public, pair.Public, false); err != nil {
		return err
	}
	if asJSON {
		return writeJSON(p.out, map[string]string{"key_id": pair.ID, "private_key": private, "public_key": public})
	}
	fmt.Fprintf(p.out, "%s\n%s signs; keep it to yourself.\n%s is for operators:\n"+
		"  plugins: {trust: {required: true, keys: [{name: NAME, public_key_file: %q}]}}\n",
		pair.ID, onScreen(private), onScreen(public), public)
	return nil
}

func newPluginSign(p program) *cobra.Command {
	key, asJSON := "", false
	command := &cobra.Command{
		Use: "sign --key KEY DIR|FILE", Short: "Sign a plugin", Args: exactly("DIR or FILE"),
		Long:    "Signs the digest of FILE, or of the plugin.wasm in DIR, and writes FILE.sig beside it. Ship both.",
		Example: "  fastreact plugin sign --key fastreact-plugin.key plugin.wasm",
		RunE: func(_ *cobra.Command, args []string) error {
			if key == "" {
				return usageError{errors.New("--key is missing")}
			}
			signed, err := host.SignPlugin(args[0], key)
			if err != nil {
				return err
			}
			warnOfOpenKey(p, key)
			if asJSON {
				return writeJSON(p.out, signed)
			}
			fmt.Fprintf(p.out, "%s\n%s\nsigned by %s\n", onScreen(signed.Signature), signed.Digest, signed.KeyID)
			return nil
		},
	}
	command.Flags().StringVar(&key, "key", "", "private key file, from fastreact plugin keygen")
	jsonFlag(command, &asJSON)
	return command
}

// warnOfOpenKey says so when others can read a private key.
func warnOfOpenKey(p program, path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		fmt.Fprintf(p.errs, "fastreact: others can read %s; run chmod 600 on it\n", onScreen(path))
	}
}

func newPluginVerify(p program) *cobra.Command {
	var keys []string
	lock, asJSON := "", false
	command := &cobra.Command{
		Use: "verify --pub PUB DIR|FILE", Short: "Check a plugin's signature and pin", Args: exactly("DIR or FILE"),
		Long: "Checks that FILE.sig is a signature of FILE by one of the public keys, and with --lock that the lock file\n" +
			"pins FILE. Exit code 1 says that one of these is not so, and why.",
		Example: "  fastreact plugin verify --pub fastreact-plugin.pub --lock plugins.lock plugin.wasm",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(keys) == 0 && lock == "" {
				return usageError{errors.New("--pub is missing")}
			}
			found, err := host.VerifyPlugin(args[0], keys, lock)
			if err != nil {
				return failedCheck(p, args[0], asJSON, err)
			}
			if asJSON {
				return writeJSON(p.out, checked{OK: true, Verified: found})
			}
			return showVerified(p, found)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&keys, "pub", nil, "public key file; may be given more than once")
	flags.StringVar(&lock, "lock", "", "lock file that must pin the plugin")
	jsonFlag(command, &asJSON)
	return command
}

// checked is what verify prints for scripts.
type checked struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	host.Verified
}

// failedCheck says why a check failed, to scripts as well as to people.
func failedCheck(p program, path string, asJSON bool, err error) error {
	if !asJSON {
		return err
	}
	found := checked{Error: err.Error()}
	found.Path = path
	return errors.Join(writeJSON(p.out, found), errQuiet)
}

func showVerified(p program, found host.Verified) error {
	signer := "not checked"
	if found.KeyID != "" {
		signer = found.KeyID
	}
	return facts(p.out, []fact{
		{"plugin", found.Path},
		{"digest", found.Digest},
		{"signer", signer},
		{"pinned in", found.Pin},
	})
}
