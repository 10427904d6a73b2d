/* trips.c: round trips of a program through bytes and through text. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

typedef struct bytes {
    void *data;
    size_t size;
} bytes;

static bool save(const rvm_program *p, report *r, bytes *b) {
    rvm_error e = {0};
    return report_ok(r, "encode", rvm_program_save(p, &b->data, &b->size, &e), &e);
}

static bool same_bytes(report *r, const char *what, const bytes *a, const bytes *b) {
    size_t k = 0;
    r->checks++;
    if (a->size == b->size && !memcmp(a->data, b->data, a->size)) return true;
    while (k < a->size && k < b->size && ((char *)a->data)[k] == ((char *)b->data)[k]) k++;
    return report_fail(r, "%s: %zu bytes became %zu; the first to differ is %zu", what, a->size, b->size, k);
}

static bool decode(report *r, const bytes *b, rvm_program **again) {
    rvm_error e = {0};
    return report_ok(r, "decode", rvm_program_load(b->data, b->size, "again.rbc", NULL, again, &e), &e);
}

static bool encode_trip(const rvm_program *p, report *r, const bytes *b) {
    rvm_program *again = NULL;
    bytes c = {0};
    bool good = decode(r, b, &again) && save(again, r, &c) && same_bytes(r, "encode, decode, encode", b, &c);
    uint64_t id[2][2];
    rvm_program_id(p, id[0]);
    if (good) rvm_program_id(again, id[1]);
    if (good && memcmp(id[0], id[1], sizeof id[0]) != 0) good = report_fail(r, "the decoded program has another identity");
    if (again) rvm_program_free_bytes(again, c.data, c.size);
    rvm_program_free(again);
    return good;
}

static bool text_trip(const rvm_program *p, report *r, const bytes *b) {
    char *text = NULL;
    size_t size = 0;
    bytes c = {0};
    rvm_program *q = NULL;
    rvm_error e = {0};
    FILE *f = open_memstream(&text, &size);
    bool good = f && report_ok(r, "disassemble", rvm_program_disassemble(p, -1, f, &e), &e);
    if (f) fclose(f);
    good = good && report_ok(r, "assemble what was disassembled",
                             rvm_assemble(text, size, "dis.rasm", NULL, &q, &e, NULL, NULL), &e);
    good = good && save(q, r, &c) && same_bytes(r, "disassemble, assemble", b, &c);
    if (!good && text && getenv("RVM_TEST_VERBOSE")) fputs(text, stdout);
    if (q) rvm_program_free_bytes(q, c.data, c.size);
    rvm_program_free(q);
    free(text);
    return good;
}

bool check_round_trips(const rvm_program *p, report *r) {
    bytes b = {0};
    const bool good = save(p, r, &b) && encode_trip(p, r, &b) && text_trip(p, r, &b);
    rvm_program_free_bytes(p, b.data, b.size);
    return good;
}

/* Bytes agree (above): what decoding might get wrong are tables that engines read beside them. */
static bool check_decoded(const subject *s, args *out) {
    subject t = *s;
    rvm_program *again = NULL;
    bytes b = {0};
    bool good = save(s->program, s->rep, &b) && decode(s->rep, &b, &again);
    t.program = again;
    if (good) t.fn = rvm_program_find(again, rvm_program_function_name(s->program, (uint32_t)s->fn));
    good = good && check_same(&t, out);
    rvm_program_free_bytes(s->program, b.data, b.size);
    rvm_program_free(again);
    return good;
}

bool check_all(const subject *s, args *out) {
    *out = (args){0};
    return check_run(s, out) && check_native(s) && check_fresh(s, false) && check_answers(s, false) &&
           check_derivatives(s) && check_transforms(s) && check_decoded(s, out);
}
