#include "json.h"
#include "number.h"

#include <math.h>

static void item(json *j) {
    if (j->comma) fputc(',', j->out);
    j->comma = true;
}

void json_open(json *j, char bracket) {
    item(j);
    fputc(bracket, j->out);
    j->comma = false;
}

void json_close(json *j, char bracket) {
    fputc(bracket, j->out);
    j->comma = true;
}

/* Length of the UTF-8 sequence at s, 0 if it is none: too long, a surrogate, cut off, beyond U+10FFFF. */
static size_t utf8_length(const unsigned char *s) {
    if (s[0] < 0x80) return 1;
    size_t n = s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) return 0;
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) return 0;
    return n;
}

bool json_is_text(const char *bytes, size_t size) {
    size_t n = 1, at = 0;
    for (; n && at < size && bytes[at]; at += n) n = utf8_length((const unsigned char *)bytes + at);
    return n && at == size;
}

static void quoted(json *j, const char *text) {
    fputc('"', j->out);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        size_t n = utf8_length(s);
        if (n > 1)
            fwrite(s, 1, n, j->out);
        else if (!n)
            fputs("\\ufffd", j->out);
        else if (*s == '"' || *s == '\\')
            fprintf(j->out, "\\%c", *s);
        else if (*s == '\n')
            fputs("\\n", j->out);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(j->out, "\\u%04x", *s);
        else
            fputc(*s, j->out);
        s += n ? n : 1;
    }
    fputc('"', j->out);
}

void json_key(json *j, const char *name) {
    item(j);
    quoted(j, name);
    fputc(':', j->out);
    j->comma = false;
}

void json_text(json *j, const char *text) {
    if (!text) {
        json_none(j);
        return;
    }
    item(j);
    quoted(j, text);
}

static void plain(json *j, const char *text) {
    item(j);
    fputs(text, j->out);
}

void json_bool(json *j, bool v) {
    plain(j, v ? "true" : "false");
}

void json_none(json *j) {
    plain(j, "null");
}

void json_uint(json *j, uint64_t v) {
    item(j);
    fprintf(j->out, "%llu", (unsigned long long)v);
}

void json_number(json *j, rvm_type t, rvm_scalar v) {
    char text[NUMBER_TEXT];
    if (rvm_type_is_floating(t) && isnan(v.f))
        plain(j, "\"NaN\"");
    else if (rvm_type_is_floating(t) && isinf(v.f))
        plain(j, v.f < 0 ? "\"-Infinity\"" : "\"Infinity\"");
    else
        plain(j, number_text(t, v, text));
}

void json_f64(json *j, double x) {
    json_number(j, RVM_F64, (rvm_scalar){.f = x});
}
