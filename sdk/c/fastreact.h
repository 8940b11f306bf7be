/*
 * fastreact.h: everything that a FastReAct plugin in C needs, in one header.
 *
 * A plugin is a folder with manifest.json and C files. One of the files names the function that answers:
 *
 *     #include "fastreact.h"
 *
 *     static void evaluate(fr_value question, fr_writer *answer) {
 *         fr_text path;
 *         if (!fr_get_text(fr_at(question, "args/path"), &path))
 *             return fr_opinion(answer, "deny", "the argument \"path\" must be a string");
 *         fr_opinion(answer, fr_ends_with(path, ".md") ? "allow" : "deny", "only notes are written");
 *     }
 *     FASTREACT_POLICY(evaluate)
 *
 * and `fastreact plugin build DIR` makes DIR/plugin.wasm of them with clang and lld. No C library is needed: the
 * header includes <stdint.h> and <stddef.h> only. It works beside wasi-libc too.
 *
 * What it promises:
 *  - The input is checked whole before your function sees it: it is strict JSON or the call fails, which denies.
 *  - Reading is safe in any order. A value that is missing has the kind FR_MISSING, and what you get from it is
 *    missing as well, so that a path of names needs one check at its end.
 *  - A member is found whatever the case of its name, because the tool behind you may not mind the case either. Where
 *    two members have the same name in that sense the value is FR_AMBIGUOUS, and no fr_get_… accepts it.
 *  - Nothing needs to be freed: memory lives for one call.
 *  - A function that returns without having written an answer fails the call.
 *
 * Names that begin with fr__ are the header's own.
 */
#ifndef FASTREACT_H
#define FASTREACT_H

#include <stddef.h>
#include <stdint.h>

/* How deep lists and objects may lie in one another. The input of a call that is deeper is refused. */
#ifndef FR_MAX_DEPTH
#define FR_MAX_DEPTH 256
#endif

/* Memory that a call has without asking the host for more. Inputs and answers beyond it make memory grow. */
#ifndef FR_ARENA_BYTES
#define FR_ARENA_BYTES (48 * 1024)
#endif

/* ---- What you work with ------------------------------------------------------------------------------------------ */

typedef enum fr_kind {
    FR_MISSING = 0, /* there is no such value */
    FR_AMBIGUOUS,   /* it stands there twice */
    FR_NULL,
    FR_BOOL,
    FR_NUMBER,
    FR_TEXT,
    FR_LIST,
    FR_OBJECT
} fr_kind;

/* A value somewhere in a JSON text, as it is written there. */
typedef struct fr_value {
    fr_kind kind;
    const char *at;
    size_t size;
} fr_value;

/* A string without its quotes and escapes. It does not end in a zero byte. */
typedef struct fr_text {
    const char *at;
    size_t size;
} fr_text;

/* A JSON text that is being written. It belongs to the call. */
typedef struct fr_writer {
    char *at;
    size_t size, room;
    int comma;  /* the next value needs one before it */
    int failed; /* there was no memory for it, or the call was failed */
} fr_writer;

/* ---- Memory ------------------------------------------------------------------------------------------------------- */

/* One arena serves one call. FASTREACT_… defines it, in one file of the plugin. */
typedef struct fr__arena {
    char *start, *next, *end;
    int used; /* a call has ended: the next allocation begins anew */
} fr__arena;

extern fr__arena fr__memory;
extern char fr__first_bytes[FR_ARENA_BYTES];

/* Gives size bytes for the rest of the call, aligned for every type, or 0 when memory is at its limit. */
static inline void *fr_alloc(size_t size) {
    fr__arena *a = &fr__memory;
    if (a->start == 0) a->start = a->next = fr__first_bytes, a->end = fr__first_bytes + FR_ARENA_BYTES;
    if (a->used) a->next = a->start, a->used = 0;
    if (size > SIZE_MAX - 65551) return 0;
    size = (size + 15) & ~(size_t)15;
    if (size > (size_t)(a->end - a->next)) {
        size_t pages = (size + 65535) / 65536;
        size_t before = __builtin_wasm_memory_grow(0, pages);
        if (before == (size_t)-1) return 0;
        char *grown = (char *)(before * 65536);
        if (grown != a->end || a->start == fr__first_bytes) a->start = a->next = grown;
        a->end = grown + pages * 65536;
    }
    void *given = a->next;
    a->next += size;
    return given;
}

static inline void fr__copy(char *to, const char *from, size_t size) { __builtin_memcpy(to, from, size); }

static inline size_t fr__length(const char *text) {
    size_t size = 0;
    while (text[size]) size++;
    return size;
}

/* ---- Texts -------------------------------------------------------------------------------------------------------- */

static inline fr_text fr_text_of(const char *text) { return (fr_text){text, fr__length(text)}; }

static inline int fr__same(const char *a, const char *b, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i]) return 0;
    return 1;
}

static inline int fr_same_text(fr_text a, fr_text b) { return a.size == b.size && fr__same(a.at, b.at, a.size); }

/* Two texts as one; empty when there is no memory for it. */
static inline fr_text fr_join(fr_text a, fr_text b) {
    char *both = fr_alloc(a.size + b.size);
    if (both == 0) return (fr_text){0, 0};
    fr__copy(both, a.at, a.size), fr__copy(both + a.size, b.at, b.size);
    return (fr_text){both, a.size + b.size};
}

/* A number as text. */
static inline fr_text fr_text_of_whole(int64_t whole) {
    char digits[20];
    size_t i = sizeof digits;
    uint64_t left = whole < 0 ? 0 - (uint64_t)whole : (uint64_t)whole;
    do digits[--i] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (whole < 0) digits[--i] = '-';
    return fr_join((fr_text){digits + i, sizeof digits - i}, (fr_text){0, 0});
}

/* How many bytes of the text are those of the word, from the beginning; the whole word when word[that] is 0. */
static inline size_t fr__shared(fr_text text, const char *word) {
    size_t i = 0;
    while (i < text.size && word[i] && text.at[i] == word[i]) i++;
    return i;
}

static inline int fr_starts_with(fr_text text, const char *word) { return word[fr__shared(text, word)] == 0; }

static inline int fr_equals(fr_text text, const char *word) {
    size_t shared = fr__shared(text, word);
    return shared == text.size && word[shared] == 0;
}

static inline int fr_ends_with(fr_text text, const char *word) {
    size_t size = fr__length(word);
    return text.size >= size && fr__same(text.at + text.size - size, word, size);
}

/* Eight bytes are looked at together: the highest bit of each of them tells. */
#define FR__HIGH 0x8080808080808080u
#define FR__EACH(b) (0x0101010101010101u * (unsigned char)(b))

static inline uint64_t fr__eight(const char *at) {
    uint64_t eight;
    __builtin_memcpy(&eight, at, 8);
    return eight;
}

/* Has the highest bit of every byte that is b; above such a one, perhaps of others. */
static inline uint64_t fr__that_are(uint64_t eight, char b) {
    eight ^= FR__EACH(b);
    return (eight - FR__EACH(1)) & ~eight & FR__HIGH;
}

/* How many bytes lie before the first that is told of. */
static inline int fr__before(uint64_t told) { return __builtin_ctzll(told) / 8; }

/* Passes over bytes, eight at a time, until one is b or fewer are left. */
static inline const char *fr__pass_others(const char *at, const char *end, char b) {
    for (; end - at >= 8; at += 8) {
        uint64_t told = fr__that_are(fr__eight(at), b);
        if (told) return at + fr__before(told);
    }
    return at;
}

static inline int fr_contains(fr_text text, const char *word) {
    if (*word == 0) return 1;
    for (const char *at = text.at, *end = at + text.size; at < end; at++) {
        at = fr__pass_others(at, end, *word);
        if (at < end && fr_starts_with((fr_text){at, (size_t)(end - at)}, word)) return 1;
    }
    return 0;
}

/* What follows the last separator, or the whole text: fr_after_last(path, '/') is a path's last name. */
static inline fr_text fr_after_last(fr_text text, char separator) {
    for (size_t i = text.size; i > 0; i--)
        if (text.at[i - 1] == separator) return (fr_text){text.at + i, text.size - i};
    return text;
}

/* ---- Reading JSON ------------------------------------------------------------------------------------------------- */

typedef struct fr__cursor {
    const char *at, *end;
} fr__cursor;

static inline void fr__space(fr__cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t' || *c->at == '\r')) c->at++;
}

static inline int fr__hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Passes over bytes, eight at a time, until one is a quote, a backslash or a control character or fewer are left. */
static inline const char *fr__plain(const char *at, const char *end) {
    for (; end - at >= 8; at += 8) {
        uint64_t eight = fr__eight(at), controls = (eight - FR__EACH(' ')) & ~eight & FR__HIGH;
        uint64_t told = controls | fr__that_are(eight, '"') | fr__that_are(eight, '\\');
        if (told) return at + fr__before(told);
    }
    return at;
}

/* Reads a string with its quotes. */
static inline int fr__skip_text(fr__cursor *c) {
    const char *end = c->end, *at = fr__plain(c->at + 1, end);
    for (; at < end; at++) {
        unsigned char b = (unsigned char)*at;
        if (b == '"') {
            c->at = at + 1;
            return 1;
        }
        if (b < ' ') return 0;
        if (b != '\\') continue;
        if (++at == end) return 0;
        switch (*at) {
        case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't':
            break;
        case 'u':
            if (end - at < 5 || fr__hex(at[1]) < 0 || fr__hex(at[2]) < 0 || fr__hex(at[3]) < 0 || fr__hex(at[4]) < 0) return 0;
            at += 4;
            break;
        default:
            return 0;
        }
        at = fr__plain(at + 1, end) - 1;
    }
    return 0;
}

static inline int fr__digits(fr__cursor *c) {
    const char *start = c->at;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9') c->at++;
    return c->at > start;
}

static inline int fr__skip_number(fr__cursor *c) {
    if (*c->at == '-') c->at++;
    if (c->at < c->end && *c->at == '0') c->at++;
    else if (!fr__digits(c)) return 0;
    if (c->at < c->end && *c->at == '.') {
        c->at++;
        if (!fr__digits(c)) return 0;
    }
    if (c->at < c->end && (*c->at == 'e' || *c->at == 'E')) {
        c->at++;
        if (c->at < c->end && (*c->at == '+' || *c->at == '-')) c->at++;
        if (!fr__digits(c)) return 0;
    }
    return 1;
}

static inline int fr__skip_word(fr__cursor *c, const char *word, size_t size) {
    if ((size_t)(c->end - c->at) < size || !fr__same(c->at, word, size)) return 0;
    c->at += size;
    return 1;
}

/* Reads one value of any kind. Everything that is read later was read by this first, so that the rest may trust it. */
static int fr__skip(fr__cursor *c, int depth) {
    fr__space(c);
    if (c->at == c->end) return 0;
    char open = *c->at;
    switch (open) {
    case '"':
        return fr__skip_text(c);
    case 't':
        return fr__skip_word(c, "true", 4);
    case 'f':
        return fr__skip_word(c, "false", 5);
    case 'n':
        return fr__skip_word(c, "null", 4);
    case '{':
    case '[':
        break;
    default:
        return (open == '-' || (open >= '0' && open <= '9')) && fr__skip_number(c);
    }
    if (depth >= FR_MAX_DEPTH) return 0;
    char close = open == '{' ? '}' : ']';
    c->at++;
    fr__space(c);
    if (c->at < c->end && *c->at == close) {
        c->at++;
        return 1;
    }
    for (;;) {
        if (open == '{') {
            fr__space(c);
            if (c->at == c->end || *c->at != '"' || !fr__skip_text(c)) return 0;
            fr__space(c);
            if (c->at == c->end || *c->at++ != ':') return 0;
        }
        if (!fr__skip(c, depth + 1)) return 0;
        fr__space(c);
        if (c->at == c->end) return 0;
        if (*c->at == close) {
            c->at++;
            return 1;
        }
        if (*c->at++ != ',') return 0;
    }
}

static inline fr_kind fr__kind(char first) {
    switch (first) {
    case '{': return FR_OBJECT;
    case '[': return FR_LIST;
    case '"': return FR_TEXT;
    case 't': case 'f': return FR_BOOL;
    case 'n': return FR_NULL;
    }
    return FR_NUMBER;
}

/* Passes over a string of a text that was checked. */
static inline void fr__pass_text(fr__cursor *c) {
    const char *at = fr__plain(c->at + 1, c->end);
    for (; *at != '"'; at++)
        if (*at == '\\') at = fr__plain(at + 2, c->end) - 1;
    c->at = at + 1;
}

/* Reads the value that comes next in a text that was checked: its strings and brackets say where it ends. */
static inline fr_value fr__take(fr__cursor *c) {
    fr__space(c);
    fr_value value = {fr__kind(*c->at), c->at, 0};
    size_t open = 0;
    do {
        char b = *c->at;
        if (b == '"') {
            fr__pass_text(c);
            continue;
        }
        open += b == '{' || b == '[';
        open -= b == '}' || b == ']';
        c->at++;
        if (open == 0 && value.kind != FR_OBJECT && value.kind != FR_LIST)
            while (c->at < c->end && *c->at != ',' && *c->at != '}' && *c->at != ']' && (unsigned char)*c->at > ' ') c->at++;
    } while (open > 0);
    value.size = (size_t)(c->at - value.at);
    return value;
}

/* Checks a JSON text and returns its value; FR_MISSING when it is not one value and nothing else. */
static inline fr_value fr_parse(const char *text, size_t size) {
    fr__cursor c = {text, text + size};
    fr_value none = {FR_MISSING, 0, 0};
    fr__space(&c);
    const char *start = c.at;
    if (!fr__skip(&c, 0)) return none;
    fr_value value = {fr__kind(*start), start, (size_t)(c.at - start)};
    fr__space(&c);
    return c.at == c.end ? value : none;
}

/* Goes through an object or a list:  for (fr_each e = fr_first(value); fr_next(&e);) { … e.name, e.value … } */
typedef struct fr_each {
    fr__cursor rest;
    int object;
    fr_value name; /* of an object's member: a text */
    fr_value value;
} fr_each;

static inline fr_each fr_first(fr_value value) {
    fr_each e = {{value.at, value.at}, value.kind == FR_OBJECT, {FR_MISSING, 0, 0}, {FR_MISSING, 0, 0}};
    if (value.kind == FR_OBJECT || value.kind == FR_LIST) e.rest.at++, e.rest.end = value.at + value.size - 1;
    return e;
}

static inline int fr_next(fr_each *e) {
    fr__space(&e->rest);
    if (e->rest.at < e->rest.end && *e->rest.at == ',') e->rest.at++;
    fr__space(&e->rest);
    if (e->rest.at >= e->rest.end) return 0;
    if (e->object) {
        e->name = fr__take(&e->rest);
        fr__space(&e->rest);
        e->rest.at++; /* the colon */
    }
    e->value = fr__take(&e->rest);
    return 1;
}

static inline unsigned fr__utf8(unsigned rune, char *out) {
    if (rune < 0x80) return out[0] = (char)rune, 1;
    if (rune < 0x800) return out[0] = (char)(0xC0 | rune >> 6), out[1] = (char)(0x80 | (rune & 63)), 2;
    if (rune < 0x10000)
        return out[0] = (char)(0xE0 | rune >> 12), out[1] = (char)(0x80 | (rune >> 6 & 63)), out[2] = (char)(0x80 | (rune & 63)), 3;
    return out[0] = (char)(0xF0 | rune >> 18), out[1] = (char)(0x80 | (rune >> 12 & 63)), out[2] = (char)(0x80 | (rune >> 6 & 63)),
           out[3] = (char)(0x80 | (rune & 63)), 4;
}

/* How many bytes the UTF-8 character at the beginning has; 0 when it is none. */
static inline unsigned fr__utf8_size(const unsigned char *at, size_t left) {
    unsigned char b = at[0];
    unsigned size = b < 0x80 ? 1 : b >= 0xC2 && b < 0xE0 ? 2 : b >= 0xE0 && b < 0xF0 ? 3 : b >= 0xF0 && b < 0xF5 ? 4 : 0;
    if (size == 0 || size > left) return 0;
    for (unsigned i = 1; i < size; i++)
        if ((at[i] & 0xC0) != 0x80) return 0;
    if ((b == 0xE0 && at[1] < 0xA0) || (b == 0xED && at[1] > 0x9F) || (b == 0xF0 && at[1] < 0x90) || (b == 0xF4 && at[1] > 0x8F)) return 0;
    return size;
}

static inline unsigned fr__u4(const char *at) {
    return (unsigned)(fr__hex(at[0]) << 12 | fr__hex(at[1]) << 8 | fr__hex(at[2]) << 4 | fr__hex(at[3]));
}

/* Writes what the escape after a backslash means and returns how many bytes it has without the backslash. */
static inline size_t fr__unescape(const char *at, size_t left, char *out, unsigned *written) {
    if (*at != 'u') {
        char c = *at == 'b' ? '\b' : *at == 'f' ? '\f' : *at == 'n' ? '\n' : *at == 'r' ? '\r' : *at == 't' ? '\t' : *at;
        return out[0] = c, *written = 1, 1;
    }
    unsigned rune = fr__u4(at + 1);
    if (rune >= 0xD800 && rune < 0xE000) {
        unsigned low = left >= 11 && at[5] == '\\' && at[6] == 'u' ? fr__u4(at + 7) : 0;
        if (rune < 0xDC00 && low >= 0xDC00 && low < 0xE000)
            return *written = fr__utf8(0x10000 + ((rune - 0xD800) << 10) + (low - 0xDC00), out), 11;
        rune = 0xFFFD; /* half a character */
    }
    return *written = fr__utf8(rune, out), 5;
}

/* Gives a string's meaning. Half surrogates and bytes that are no UTF-8 become U+FFFD. 0: the value is no string. */
static int fr_get_text(fr_value value, fr_text *text) {
    if (value.kind != FR_TEXT) return 0;
    const char *at = value.at + 1, *end = value.at + value.size - 1;
    const char *c = at;
    while (end - c >= 8 && !((fr__eight(c) & FR__HIGH) | fr__that_are(fr__eight(c), '\\'))) c += 8;
    while (c < end && *c != '\\' && (unsigned char)*c < 0x80) c++;
    if (c == end) return *text = (fr_text){at, (size_t)(end - at)}, 1;
    char *out = fr_alloc((size_t)(end - at) * 3), *start = out;
    if (out == 0) return 0;
    while (at < end) {
        unsigned written = 0;
        if (*at == '\\') {
            at += 1 + fr__unescape(at + 1, (size_t)(end - at - 1), out, &written);
        } else {
            unsigned size = fr__utf8_size((const unsigned char *)at, (size_t)(end - at));
            if (size == 0) written = fr__utf8(0xFFFD, out), size = 1;
            else fr__copy(out, at, size), written = size;
            at += size;
        }
        out += written;
    }
    return *text = (fr_text){start, (size_t)(out - start)}, 1;
}

static inline int fr_get_bool(fr_value value, int *truth) {
    if (value.kind != FR_BOOL) return 0;
    return *truth = value.at[0] == 't', 1;
}

/* A number without a point and an exponent that 64 bits can hold. */
static inline int fr_get_whole(fr_value value, int64_t *whole) {
    if (value.kind != FR_NUMBER) return 0;
    int negative = value.at[0] == '-';
    uint64_t sum = 0, limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    for (size_t i = (size_t)negative; i < value.size; i++) {
        unsigned digit = (unsigned)(value.at[i] - '0');
        if (digit > 9 || sum > (limit - digit) / 10) return 0;
        sum = sum * 10 + digit;
    }
    return *whole = negative ? (int64_t)(0 - sum) : (int64_t)sum, 1;
}

/* A number of at most 15 digits and a power of ten up to 22: such a one is exact. Others are refused, not rounded. */
static inline int fr_get_number(fr_value value, double *number) {
    if (value.kind != FR_NUMBER) return 0;
    uint64_t sum = 0;
    int digits = 0, power = 0, point = 0;
    size_t i = value.at[0] == '-';
    for (; i < value.size && value.at[i] != 'e' && value.at[i] != 'E'; i++) {
        if (value.at[i] == '.') {
            point = 1;
            continue;
        }
        sum = sum * 10 + (unsigned)(value.at[i] - '0');
        digits += sum > 0, power -= point;
        if (digits > 15) return 0;
    }
    if (i < value.size) {
        int negative = value.at[++i] == '-', exponent = 0;
        for (i += value.at[i] == '-' || value.at[i] == '+'; i < value.size; i++)
            if ((exponent = exponent * 10 + (value.at[i] - '0')) > 400) return 0;
        power += negative ? -exponent : exponent;
    }
    if (power < -22 || power > 22) return 0;
    double result = (double)sum, ten = 1;
    for (int p = power < 0 ? -power : power; p > 0; p--) ten *= 10;
    result = power < 0 ? result / ten : result * ten;
    return *number = value.at[0] == '-' ? -result : result, 1;
}

/* Lower case for names: ASCII, and the two letters that fold into it, the Kelvin sign and the long s. */
static inline unsigned fr__fold(const char **at, const char *end) {
    unsigned char b = (unsigned char)*(*at)++;
    if (b >= 'A' && b <= 'Z') return b + 32u;
    if (b == 0xC5 && end - *at >= 1 && (unsigned char)(*at)[0] == 0xBF) return *at += 1, 's';
    if (b == 0xE2 && end - *at >= 2 && (unsigned char)(*at)[0] == 0x84 && (unsigned char)(*at)[1] == 0xAA) return *at += 2, 'k';
    return b;
}

static inline int fr__same_name(fr_text a, const char *b, size_t size) {
    const char *x = a.at, *y = b, *x_end = a.at + a.size, *y_end = b + size;
    while (x < x_end && y < y_end)
        if (fr__fold(&x, x_end) != fr__fold(&y, y_end)) return 0;
    return x == x_end && y == y_end;
}

/* Reports whether a name is this one, whatever its case. */
static inline int fr_same_name(fr_text text, const char *name) { return fr__same_name(text, name, fr__length(name)); }

static inline fr_value fr__member(fr_value object, const char *name, size_t size) {
    fr_value found = {FR_MISSING, 0, 0};
    if (object.kind == FR_AMBIGUOUS) return object;
    if (object.kind != FR_OBJECT) return found;
    for (fr_each e = fr_first(object); fr_next(&e);) {
        fr_text key;
        if (!fr_get_text(e.name, &key)) return (fr_value){FR_AMBIGUOUS, 0, 0}; /* no memory to read it */
        if (!fr__same_name(key, name, size)) continue;
        if (found.kind != FR_MISSING) return (fr_value){FR_AMBIGUOUS, 0, 0};
        found = e.value;
    }
    return found;
}

/* The member of an object, by its name. */
static inline fr_value fr_member(fr_value object, const char *name) { return fr__member(object, name, fr__length(name)); }

/* The element of a list, counted from 0. */
static inline fr_value fr_element(fr_value list, size_t index) {
    if (list.kind != FR_LIST) return (fr_value){list.kind == FR_AMBIGUOUS ? FR_AMBIGUOUS : FR_MISSING, 0, 0};
    for (fr_each e = fr_first(list); fr_next(&e); index--)
        if (index == 0) return e.value;
    return (fr_value){FR_MISSING, 0, 0};
}

/* The value at a path of names and, in lists, numbers: fr_at(question, "args/files/0/path"). */
static inline fr_value fr_at(fr_value value, const char *path) {
    while (*path) {
        size_t size = 0, index = 0;
        int number = 1;
        for (; path[size] && path[size] != '/'; size++) {
            number = number && path[size] >= '0' && path[size] <= '9' && size < 9;
            index = index * 10 + (size_t)(path[size] - '0');
        }
        if (value.kind == FR_LIST) value = number && size > 0 ? fr_element(value, index) : (fr_value){FR_MISSING, 0, 0};
        else value = fr__member(value, path, size);
        path += size + (path[size] == '/');
    }
    return value;
}

/* ---- Writing JSON ------------------------------------------------------------------------------------------------- */

static inline void fr__write(fr_writer *w, const char *bytes, size_t size) {
    if (size > w->room - w->size) {
        size_t room = (w->size + size) * 2 + 256;
        char *more = w->failed ? 0 : fr_alloc(room);
        if (more == 0) {
            w->failed = 1;
            return;
        }
        fr__copy(more, w->at, w->size);
        w->at = more, w->room = room;
    }
    fr__copy(w->at + w->size, bytes, size);
    w->size += size;
}

/* Writes what goes before a value. */
static inline void fr__value(fr_writer *w) {
    if (w->comma) fr__write(w, ",", 1);
    w->comma = 1;
}

static inline void fr_begin_object(fr_writer *w) { fr__value(w), fr__write(w, "{", 1), w->comma = 0; }
static inline void fr_end_object(fr_writer *w) { fr__write(w, "}", 1), w->comma = 1; }
static inline void fr_begin_list(fr_writer *w) { fr__value(w), fr__write(w, "[", 1), w->comma = 0; }
static inline void fr_end_list(fr_writer *w) { fr__write(w, "]", 1), w->comma = 1; }

static inline void fr__escaped(fr_writer *w, unsigned char b) {
    const char *hex = "0123456789abcdef";
    char out[6] = {'\\', 'u', '0', '0', hex[b >> 4], hex[b & 15]};
    switch (b) {
    case '"': case '\\': out[1] = (char)b; break;
    case '\n': out[1] = 'n'; break;
    case '\r': out[1] = 'r'; break;
    case '\t': out[1] = 't'; break;
    default: return fr__write(w, out, 6);
    }
    fr__write(w, out, 2);
}

/* Writes a string. Bytes that are no UTF-8 become U+FFFD. */
static inline void fr_write_text(fr_writer *w, fr_text text) {
    fr__value(w);
    fr__write(w, "\"", 1);
    for (size_t start = 0, i = 0; i <= text.size;) {
        unsigned char b = i < text.size ? (unsigned char)text.at[i] : '"';
        unsigned size = b < ' ' || b == '"' || b == '\\' ? 0 : fr__utf8_size((const unsigned char *)text.at + i, text.size - i);
        if (size > 0) {
            i += size;
            continue;
        }
        fr__write(w, text.at + start, i - start);
        if (i < text.size && b < 0x80) fr__escaped(w, b);
        else if (i < text.size) fr__write(w, "\xEF\xBF\xBD", 3);
        start = ++i;
    }
    fr__write(w, "\"", 1);
}

static inline void fr_write_word(fr_writer *w, const char *text) { fr_write_text(w, fr_text_of(text)); }

static inline void fr_write_bool(fr_writer *w, int truth) { fr__value(w), fr__write(w, truth ? "true" : "false", truth ? 4 : 5); }

static inline void fr_write_whole(fr_writer *w, int64_t whole) {
    fr_text digits = fr_text_of_whole(whole);
    fr__value(w), fr__write(w, digits.at, digits.size);
}

/* Writes a value as it was read; null for one that is missing. */
static inline void fr_write_value(fr_writer *w, fr_value value) {
    fr__value(w);
    if (value.kind <= FR_NULL) fr__write(w, "null", 4);
    else fr__write(w, value.at, value.size);
}

/* Writes a member's name; its value comes next. */
static inline void fr_name(fr_writer *w, const char *name) { fr_write_word(w, name), fr__write(w, ":", 1), w->comma = 0; }

/* Copies a member of another object with its name. */
static inline void fr_write_member(fr_writer *w, const fr_each *member) {
    fr_write_value(w, member->name), fr__write(w, ":", 1), w->comma = 0, fr_write_value(w, member->value);
}

/* Fails the call: the host denies it. What was written is forgotten. */
static inline void fr_fail(fr_writer *w) { w->failed = 1; }

/* ---- Answers, one for each kind of plugin ------------------------------------------------------------------------- */

/* A policy's opinion: "allow", "caution", "require_approval" or "deny", and a reason, which may be "". */
static inline void fr_opinion(fr_writer *w, const char *action, const char *reason) {
    fr_begin_object(w);
    fr_name(w, "action"), fr_write_word(w, action);
    if (*reason) fr_name(w, "reason"), fr_write_word(w, reason);
    fr_end_object(w);
}

/* A tool's text for the model. An error is one that the model can mend. */
static inline void fr_result(fr_writer *w, fr_text content, int is_error) {
    fr_begin_object(w);
    fr_name(w, "content"), fr_write_text(w, content);
    if (is_error) fr_name(w, "is_error"), fr_write_bool(w, 1);
    fr_end_object(w);
}

/* A guard's verdict: "release", "repair" or "fallback", and a reason, which may be "". */
static inline void fr_review(fr_writer *w, const char *verdict, const char *reason) {
    fr_begin_object(w);
    fr_name(w, "verdict"), fr_write_word(w, verdict);
    fr_name(w, "reasons"), fr_begin_list(w);
    if (*reason) fr_write_word(w, reason);
    fr_end_list(w), fr_end_object(w);
}

/* A scope plugin's bounded arguments: between the two, write one object, the arguments. applied says that the scope
   stands in them now. */
static inline void fr_begin_injection(fr_writer *w) { fr_begin_object(w), fr_name(w, "args"); }
static inline void fr_end_injection(fr_writer *w, int applied, const char *narrowed) {
    fr_name(w, "applied"), fr_write_bool(w, applied);
    fr_name(w, "narrowed"), fr_begin_list(w);
    if (*narrowed) fr_write_word(w, narrowed);
    fr_end_list(w), fr_end_object(w);
}

/* A scope plugin's result without what lies outside: between the two, write one value, the result. With removed 0 it
   must be the result as it was given: fr_write_value(w, fr_member(request, "result")). */
static inline void fr_begin_filtering(fr_writer *w) { fr_begin_object(w), fr_name(w, "result"); }
static inline void fr_end_filtering(fr_writer *w, int64_t removed) {
    fr_name(w, "removed"), fr_write_whole(w, removed), fr_end_object(w);
}

/* ---- Imports. A module imports only those that it calls, and must request them in its manifest. ------------------- */

#define FR__IMPORT(module, name) __attribute__((import_module(module), import_name(name)))

FR__IMPORT("fastreact:log/1", "write") extern uint64_t fr__import_log(const char *at, size_t size);
FR__IMPORT("fastreact:emit/1", "chunk") extern uint64_t fr__import_emit(const char *at, size_t size);
FR__IMPORT("fastreact:http/1", "send") extern uint64_t fr__import_http_send(const char *at, size_t size);
FR__IMPORT("fastreact:kv/1", "get") extern uint64_t fr__import_kv_get(const char *at, size_t size);
FR__IMPORT("fastreact:kv/1", "set") extern uint64_t fr__import_kv_set(const char *at, size_t size);
FR__IMPORT("fastreact:kv/1", "delete") extern uint64_t fr__import_kv_delete(const char *at, size_t size);

/* One line for the operators' log, at debug level. Every plugin may write some; it is no capability. */
static inline void fr_log(const char *line) { (void)fr__import_log(line, fr__length(line)); }

/* What the host answered to an import: FR_MISSING when it did not. A refusal is {"error":{"code","message"}}. */
static inline fr_value fr_host_answer(uint64_t packed) {
    return packed == 0 ? (fr_value){FR_MISSING, 0, 0} : fr_parse((const char *)(uintptr_t)(packed >> 32), (size_t)(uint32_t)packed);
}

/* Each sends the JSON in w, an object that you wrote, and gives the host's answer. docs/plugin-authors.md has the
   fields. */
static inline fr_value fr_http_send(const fr_writer *w) { return fr_host_answer(fr__import_http_send(w->at, w->size)); }
static inline fr_value fr_kv_get(const fr_writer *w) { return fr_host_answer(fr__import_kv_get(w->at, w->size)); }
static inline fr_value fr_kv_set(const fr_writer *w) { return fr_host_answer(fr__import_kv_set(w->at, w->size)); }
static inline fr_value fr_kv_delete(const fr_writer *w) { return fr_host_answer(fr__import_kv_delete(w->at, w->size)); }

/* A sign of life from a tool's call: {"text":…,"done":…,"total":…}. Capability progress. */
static inline void fr_progress(const fr_writer *w) { (void)fr__import_emit(w->at, w->size); }

/* ---- The ABI. One of these stands once in a plugin. --------------------------------------------------------------- */

enum { FR_OP_CALL = 1, FR_OP_EVALUATE, FR_OP_INJECT, FR_OP_FILTER, FR_OP_REVIEW };

typedef void (*fr__answerer)(fr_value input, fr_writer *answer);

static inline uint64_t fr__answer(fr__answerer answer, const char *at, size_t size) {
    fr_value input = fr_parse(at, size);
    fr_writer w = {0, 0, 0, 0, 0};
    if (input.kind == FR_OBJECT && answer) answer(input, &w);
    fr__memory.used = 1;
    return w.failed || w.size == 0 ? 0 : (uint64_t)(uintptr_t)w.at << 32 | w.size;
}

#define FR__EXPORT(name) __attribute__((export_name(name)))

#define FR__PLUGIN(choose)                                                                              \
    fr__arena fr__memory;                                                                               \
    char fr__first_bytes[FR_ARENA_BYTES] __attribute__((aligned(16)));                                  \
    FR__EXPORT("fastreact_abi") uint32_t fr__export_abi(void) { return 1; }                             \
    FR__EXPORT("fastreact_alloc") void *fr__export_alloc(size_t size) { return fr_alloc(size); }        \
    FR__EXPORT("fastreact_call") uint64_t fr__export_call(uint32_t op, const char *at, size_t size) {   \
        return fr__answer(choose, at, size);                                                            \
    }

/* A tool: {tool, args, identity, scope, run_id, call_id} → fr_result. */
#define FASTREACT_TOOL(call) FR__PLUGIN(op == FR_OP_CALL ? call : (fr__answerer)0)
/* A policy: {tool, args, identity, scope, now, static} → fr_opinion. */
#define FASTREACT_POLICY(evaluate) FR__PLUGIN(op == FR_OP_EVALUATE ? evaluate : (fr__answerer)0)
/* A scope plugin: {tool, args, scope, schema} → an injection; {result, scope} → a filtering. */
#define FASTREACT_SCOPE(inject, filter) FR__PLUGIN(op == FR_OP_INJECT ? inject : op == FR_OP_FILTER ? filter : (fr__answerer)0)
/* A guard: {draft, evidence, question} → fr_review. */
#define FASTREACT_GUARD(review) FR__PLUGIN(op == FR_OP_REVIEW ? review : (fr__answerer)0)

#endif
