// Package rules is the policy that all contestants speak: what a model may write into which file.
package rules

import (
	"slices"
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

// Judge returns the action for one call. Every rule is looked at until one of them objects.
func Judge(tool, path, content string, roles []string) sdk.Action {
	if tool != "write_file" && tool != "edit_file" {
		return sdk.Allow
	}
	segments := strings.Split(path, "/")
	if slices.ContainsFunc(segments, func(segment string) bool { return strings.HasPrefix(segment, ".") }) {
		return sdk.Deny
	}
	if !slices.ContainsFunc([]string{".md", ".txt", ".csv", ".json", ".yaml", ".toml"}, func(kind string) bool { return strings.HasSuffix(path, kind) }) {
		return sdk.Deny
	}
	if slices.ContainsFunc([]string{
		"BEGIN RSA PRIVATE KEY", "BEGIN OPENSSH PRIVATE KEY", "AKIA", "ghp_", "xoxb-", "password=", "passwd:", "secret_key", "api_key", "bearer ",
	}, func(marker string) bool { return strings.Contains(content, marker) }) {
		return sdk.Deny
	}
	if slices.ContainsFunc(segments, func(segment string) bool {
		return slices.Contains([]string{"node_modules", "vendor", "secrets", "private", "keys", "bin", "etc", "proc", "sys", "dev", "boot", "root"}, segment)
	}) {
		return sdk.RequireApproval
	}
	if slices.Contains(roles, "guest") {
		return sdk.RequireApproval
	}
	return sdk.Allow
}
