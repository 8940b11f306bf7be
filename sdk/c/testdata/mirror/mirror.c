/* mirror: a tool that reads every value of its input with the header and writes it anew, for comparison. */
#include "fastreact.h"

static void copy(fr_writer *w, fr_value value) {
    fr_text text;
    int truth;
    int64_t whole;
    switch (value.kind) {
    case FR_OBJECT:
        fr_begin_object(w);
        for (fr_each e = fr_first(value); fr_next(&e);) {
            if (!fr_get_text(e.name, &text)) return fr_fail(w);
            fr_write_text(w, text), fr__write(w, ":", 1), w->comma = 0;
            copy(w, e.value);
        }
        return fr_end_object(w);
    case FR_LIST:
        fr_begin_list(w);
        for (fr_each e = fr_first(value); fr_next(&e);) copy(w, e.value);
        return fr_end_list(w);
    case FR_TEXT:
        return fr_get_text(value, &text) ? fr_write_text(w, text) : fr_fail(w);
    case FR_BOOL:
        return fr_get_bool(value, &truth) ? fr_write_bool(w, truth) : fr_fail(w);
    case FR_NUMBER:
        return value.size > 2 && fr_get_whole(value, &whole) ? fr_write_whole(w, whole) : fr_write_value(w, value);
    default:
        return fr_write_value(w, value);
    }
}

/* number answers whether a number is read exactly, by writing it back as thousandths. */
static void number(fr_writer *w, fr_value value) {
    double n;
    if (fr_get_number(value, &n)) fr_write_whole(w, (int64_t)(n * 1000));
    else fr_write_word(w, "refused");
}

/* find answers with the value at a path, which must be short. */
static void find(fr_writer *w, fr_value input, fr_text path) {
    char copy[64];
    fr__copy(copy, path.at, path.size < 63 ? path.size : 63);
    copy[path.size < 63 ? path.size : 63] = 0;
    fr_value found = fr_at(fr_member(input, "args"), copy);
    if (found.kind == FR_MISSING) fr_write_word(w, "missing");
    else if (found.kind == FR_AMBIGUOUS) fr_write_word(w, "ambiguous");
    else fr_write_value(w, found);
}

/* contains answers whether one text lies in the other, is it, begins it and ends it. */
static void contains(fr_writer *w, fr_value args) {
    fr_text text, word;
    if (!fr_get_text(fr_at(args, "text"), &text) || !fr_get_text(fr_at(args, "word"), &word)) return fr_fail(w);
    fr_text ended = fr_join(word, (fr_text){"", 1});
    fr_begin_list(w);
    fr_write_bool(w, fr_contains(text, ended.at)), fr_write_bool(w, fr_equals(text, ended.at));
    fr_write_bool(w, fr_starts_with(text, ended.at)), fr_write_bool(w, fr_ends_with(text, ended.at));
    fr_end_list(w);
}

static void call(fr_value input, fr_writer *answer) {
    fr_text tool;
    if (!fr_get_text(fr_member(input, "tool"), &tool)) return fr_fail(answer);
    fr_begin_object(answer);
    fr_name(answer, "structured");
    if (fr_equals(tool, "number")) number(answer, fr_member(input, "args"));
    else if (fr_equals(tool, "contains")) contains(answer, fr_member(input, "args"));
    else if (fr_equals(tool, "mirror")) copy(answer, fr_member(input, "args"));
    else find(answer, input, tool);
    fr_end_object(answer);
}
FASTREACT_TOOL(call)
