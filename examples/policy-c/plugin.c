/* only-notes in C: what the model writes is a note, never a hidden file or a script. */
#include "fastreact.h"

static void evaluate(fr_value question, fr_writer *answer) {
    fr_text path;
    if (!fr_get_text(fr_at(question, "args/path"), &path)) {
        fr_fail(answer); /* the host denies the call */
        return;
    }
    fr_text name = fr_after_last(path, '/');
    if (fr_starts_with(name, ".") || !(fr_ends_with(name, ".md") || fr_ends_with(name, ".txt"))) {
        fr_opinion(answer, "deny", "that is no note: write .md or .txt files");
        return;
    }
    fr_opinion(answer, "allow", "");
}
FASTREACT_POLICY(evaluate)
