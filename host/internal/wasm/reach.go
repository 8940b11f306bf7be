package wasm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fastreact/fastreact/host/internal/capability/egress"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// Pairs keeps what plugins remember from call to call, as the ledger does.
type Pairs interface {
	Pair(ctx context.Context, drawer run.Drawer, key string) (pair run.Pair, found bool, err error)
	PutPair(ctx context.Context, drawer run.Drawer, put run.Put) (run.PutOutcome, error)
	DropPair(ctx context.Context, drawer run.Drawer, key string) (found bool, err error)
}

// World is what capabilities reach beyond a guest's memory and files.
type World struct {
	Egress   *egress.Broker    // nil: one of its own, which knows no listener of this service
	Pairs    Pairs             // nil: nothing is kept
	Secrets  map[string]string // values by name
	Withheld []string          // values that come neither from a guest nor to one: the service's own secrets
}

// complete gives a world that lacks a broker one.
func (w World) complete() World {
	if w.Egress == nil {
		w.Egress = egress.New(egress.Config{})
	}
	return w
}

// reach is what a plugin may use beyond its memory and files: requested, granted and within what its kind may. The zero
// value is nothing.
type reach struct {
	http    []sdk.HTTPAccess
	secrets []sdk.SecretAccess
	kv      int64 // bytes
}

// reachOf compares what a manifest requests with what the operator grants. A pure kind gets nothing of either.
func reachOf(manifest sdk.Manifest, granted sdk.Capabilities) (reach, error) {
	if _, err := egress.NewGrants(granted.HTTP); err != nil {
		return reach{}, fmt.Errorf("grants.%w", err)
	}
	var problems []error
	for i, secret := range granted.Secrets {
		if err := secret.Validate(); err != nil {
			problems = append(problems, fmt.Errorf("grants.secrets[%d].%w", i, err))
		}
	}
	if granted.KV != nil {
		if err := granted.KV.Validate(); err != nil {
			problems = append(problems, fmt.Errorf("grants.kv.%w", err))
		}
	}
	if err := errors.Join(problems...); err != nil || manifest.Kind.Pure() {
		return reach{}, err
	}
	requested := manifest.Capabilities
	r := reach{http: commonHTTP(requested.HTTP, granted.HTTP), secrets: commonSecrets(requested.Secrets, granted.Secrets)}
	if requested.KV != nil && granted.KV != nil {
		r.kv = min(requested.KV.Bytes, granted.KV.Bytes)
	}
	return r, nil
}

// commonHTTP returns the origins that stand in both lists, with the methods that do. Addresses are the operator's word.
func commonHTTP(requested, granted []sdk.HTTPAccess) []sdk.HTTPAccess {
	var common []sdk.HTTPAccess
	for _, want := range requested {
		want = want.WithDefaults()
		for _, give := range granted {
			give = give.WithDefaults()
			if want.Scheme != give.Scheme || want.Host != give.Host || want.Port != give.Port {
				continue
			}
			both := func(method string) bool { return slices.Contains(want.Methods, method) }
			give.Methods = slices.DeleteFunc(slices.Clone(give.Methods), func(m string) bool { return !both(m) })
			if len(give.Methods) > 0 {
				common = append(common, give)
			}
		}
	}
	return common
}

// commonSecrets returns the secrets that stand in both lists, each with the hosts that do. A host without a port means
// all of them.
func commonSecrets(requested, granted []sdk.SecretAccess) []sdk.SecretAccess {
	var common []sdk.SecretAccess
	for _, want := range requested {
		for _, give := range granted {
			if want.Name != give.Name {
				continue
			}
			if hosts := commonHosts(want.Hosts, give.Hosts); len(hosts) > 0 {
				common = append(common, sdk.SecretAccess{Name: give.Name, Hosts: hosts})
			}
		}
	}
	return common
}

func commonHosts(requested, granted []string) []string {
	var common []string
	for _, want := range requested {
		wantHost, wantPort, _ := sdk.SplitHost(want) // both were validated
		for _, give := range granted {
			giveHost, givePort, _ := sdk.SplitHost(give)
			switch {
			case wantHost != giveHost:
			case wantPort == givePort || wantPort == 0:
				common = append(common, give)
			case givePort == 0:
				common = append(common, want)
			}
		}
	}
	return common
}

// policy returns what the egress broker needs to know of a plugin. The reach was checked.
func (r reach) policy(world World, limits sdk.Limits) (egress.Policy, error) {
	grants, err := egress.NewGrants(r.http)
	if err != nil {
		return egress.Policy{}, err
	}
	var secrets []egress.Secret
	for _, granted := range r.secrets {
		value, there := world.Secrets[granted.Name]
		if !there {
			return egress.Policy{}, fmt.Errorf("grants.secrets: no secret is named %q; the operator adds it to plugins.secrets", granted.Name)
		}
		secrets = append(secrets, egress.Secret{Name: granted.Name, Value: value, Hosts: granted.Hosts})
	}
	withheld := slices.Clone(world.Withheld)
	for _, value := range world.Secrets {
		withheld = append(withheld, value)
	}
	return egress.Policy{Grants: grants, Vault: egress.NewVault(secrets, withheld), Limits: egressLimits(limits)}, nil
}
