package workbench

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

// capabilities compares what the manifests request.
func (d *diff) capabilities(before, after sdk.Capabilities) {
	d.files(filesAt(before.Files), filesAt(after.Files))
	d.origins(originsOf(before.HTTP), originsOf(after.HTTP))
	d.secrets(secretsOf(before.Secrets), secretsOf(after.Secrets))
	d.amount("capabilities.kv.bytes", kvBytes(before.KV), kvBytes(after.KV))
	d.amount("capabilities.progress.bytes", progressBytes(before.Progress), progressBytes(after.Progress))
}

func filesAt(list []sdk.FileAccess) map[string]sdk.FileMode {
	modes := map[string]sdk.FileMode{}
	for _, file := range list {
		modes[file.At] = file.Mode
	}
	return modes
}

func (d *diff) files(before, after map[string]sdk.FileMode) {
	for _, at := range union(before, after) {
		old, had := before[at]
		now, has := after[at]
		c := Change{Widens, "path", "capabilities.files at " + at, string(old), string(now), "it asks for files that it did not see"}
		switch {
		case old == now:
			continue
		case !has:
			c.Effect, c.Why = Narrows, "it no longer asks for these files"
		case had && now == sdk.ReadOnly:
			c.Effect, c.Why = Narrows, "it only reads now"
		case had:
			c.Why = "it asks to write what it only read"
		}
		d.add(c)
	}
}

// originsOf lists the methods that are asked for at each origin.
func originsOf(list []sdk.HTTPAccess) map[string][]string {
	methods := map[string][]string{}
	for _, access := range list {
		access = access.WithDefaults()
		origin := fmt.Sprintf("%s://%s", access.Scheme, net.JoinHostPort(access.Host, strconv.Itoa(access.Port)))
		methods[origin] = append(methods[origin], access.Methods...)
	}
	return methods
}

func (d *diff) origins(before, after map[string][]string) {
	for _, origin := range union(before, after) {
		old, had := before[origin]
		now, has := after[origin]
		c := Change{Widens, "host", "capabilities.http " + origin, strings.Join(old, ", "), strings.Join(now, ", "), "it asks to reach a host that it did not reach"}
		switch {
		case !had:
			d.add(c)
		case !has:
			c.Effect, c.Why = Narrows, "it no longer asks to reach this host"
			d.add(c)
		default:
			d.members("method", c.Where, old, now)
		}
	}
}

// members compares two sets of which a larger one is wider.
func (d *diff) members(what, where string, before, after []string) {
	for _, one := range added(before, after) {
		d.add(Change{Widens, what, where, "", one, "it asks for one more " + what})
	}
	for _, one := range added(after, before) {
		d.add(Change{Narrows, what, where, one, "", "it no longer asks for this " + what})
	}
}

// secretsOf lists the hosts that each secret is asked for.
func secretsOf(list []sdk.SecretAccess) map[string][]string {
	hosts := map[string][]string{}
	for _, access := range list {
		hosts[access.Name] = append(hosts[access.Name], access.Hosts...)
	}
	return hosts
}

func (d *diff) secrets(before, after map[string][]string) {
	for _, name := range union(before, after) {
		old, had := before[name]
		now, has := after[name]
		c := Change{Widens, "secret", "capabilities.secrets " + name, strings.Join(old, ", "), strings.Join(now, ", "), "it asks to use a secret that it did not use"}
		switch {
		case !had:
			d.add(c)
		case !has:
			c.Effect, c.Why = Narrows, "it no longer asks for this secret"
			d.add(c)
		default:
			d.members("host", c.Where, old, now)
		}
	}
}

func kvBytes(kv *sdk.KVAccess) int64 {
	if kv == nil {
		return 0
	}
	return kv.Bytes
}

func progressBytes(p *sdk.ProgressAccess) int64 {
	if p == nil {
		return 0
	}
	return int64(p.Bytes)
}

// amount compares a capability that is a number of bytes; 0 is none.
func (d *diff) amount(where string, before, after int64) {
	if c, changed := bound("capability", where, before, after, number); changed {
		d.add(c)
	}
}

// union lists the keys of both maps in order.
func union[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]V{}
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
