/* The policy as a plugin in C. */
#include "fastreact.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char *const kinds[] = {".md", ".txt", ".csv", ".json", ".yaml", ".toml"};
static const char *const markers[] = {"BEGIN RSA PRIVATE KEY", "BEGIN OPENSSH PRIVATE KEY", "AKIA", "ghp_", "xoxb-", "password=", "passwd:", "secret_key", "api_key", "bearer "};
static const char *const reserved[] = {"node_modules", "vendor", "secrets", "private", "keys", "bin", "etc", "proc", "sys", "dev", "boot", "root"};

static const char *judge(fr_value question, fr_text path, fr_text content) {
    fr_text tool;
    if (!fr_get_text(fr_at(question, "tool"), &tool)) return 0;
    if (!fr_equals(tool, "write_file") && !fr_equals(tool, "edit_file")) return "allow";
    int document = 0, kept = 0;
    for (size_t i = 0; i < COUNT(kinds); i++) document |= fr_ends_with(path, kinds[i]);
    for (size_t start = 0, i = 0; i <= path.size; i++) {
        if (i < path.size && path.at[i] != '/') continue;
        fr_text segment = {path.at + start, i - start};
        if (fr_starts_with(segment, ".")) return "deny";
        for (size_t n = 0; n < COUNT(reserved); n++) kept |= fr_equals(segment, reserved[n]);
        start = i + 1;
    }
    if (!document) return "deny";
    for (size_t i = 0; i < COUNT(markers); i++)
        if (fr_contains(content, markers[i])) return "deny";
    if (kept) return "require_approval";
    for (fr_each role = fr_first(fr_at(question, "identity/roles")); fr_next(&role);) {
        fr_text name;
        if (fr_get_text(role.value, &name) && fr_equals(name, "guest")) return "require_approval";
    }
    return "allow";
}

static void evaluate(fr_value question, fr_writer *answer) {
    fr_text path, content;
    fr_value args = fr_at(question, "args");
    if (!fr_get_text(fr_at(args, "path"), &path) || !fr_get_text(fr_at(args, "content"), &content)) return fr_fail(answer);
    const char *action = judge(question, path, content);
    if (action == 0) return fr_fail(answer);
    fr_opinion(answer, action, "");
}
FASTREACT_POLICY(evaluate)
