package rules

default action := "allow"

action := "deny" if {
	writes
	objectionable
} else := "require_approval" if {
	writes
	delicate
}

writes if input.tool in {"write_file", "edit_file"}

segments := split(input.args.path, "/")

objectionable if {
	some segment in segments
	startswith(segment, ".")
}

objectionable if not document

objectionable if {
	some marker in ["BEGIN RSA PRIVATE KEY", "BEGIN OPENSSH PRIVATE KEY", "AKIA", "ghp_", "xoxb-", "password=", "passwd:", "secret_key", "api_key", "bearer "]
	contains(input.args.content, marker)
}

document if strings.any_suffix_match(input.args.path, [".md", ".txt", ".csv", ".json", ".yaml", ".toml"])

delicate if {
	some segment in segments
	segment in {"node_modules", "vendor", "secrets", "private", "keys", "bin", "etc", "proc", "sys", "dev", "boot", "root"}
}

delicate if "guest" in input.identity.roles
