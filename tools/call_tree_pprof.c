/* call_tree_pprof.c: call paths as pprof's profile.proto (github.com/google/pprof/blob/main/proto/profile.proto), written
 * field by field: a function is a location, and a path of a mode a sample, from the leaf up. */
#include "call_tree.h"

#include <stdlib.h>
#include <string.h>

/* Fields of profile.proto that are written. */
enum { SAMPLE_TYPE = 1, SAMPLE = 2, LOCATION = 4, FUNCTION = 5, STRING_TABLE = 6 };
enum { VALUE_TYPE = 1, VALUE_UNIT = 2 };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2, SAMPLE_LABEL = 3, LABEL_KEY = 1, LABEL_TEXT = 2 };
enum { LOCATION_ID = 1, LOCATION_LINE = 4, LINE_FUNCTION = 1, LINE_NUMBER = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4, FUNCTION_LINE = 5 };
/* Strings by number: these, the modes, then name and file of each function. */
enum { TEXT_NONE, TEXT_INSTRUCTIONS, TEXT_COUNT, TEXT_MODE, TEXT_MODES };
enum { TEXT_FUNCTIONS = TEXT_MODES + RVM_PROFILE_MODES };

static void varint(FILE *out, uint64_t v) {
    for (; v >= 0x80; v >>= 7) fputc((int)(v & 0x7f) | 0x80, out);
    fputc((int)v, out);
}

static void number(FILE *out, uint32_t field, uint64_t v) {
    if (!v) return;
    varint(out, field << 3);
    varint(out, v);
}

static void bytes(FILE *out, uint32_t field, const void *from, size_t size) {
    varint(out, field << 3 | 2);
    varint(out, size);
    fwrite(from, 1, size, out);
}

/* A message within another is written aside first: its size stands before it. */
typedef struct part {
    FILE *out;
    char *text;
    size_t size;
} part;

static bool part_begin(part *p) {
    *p = (part){0};
    return (p->out = open_memstream(&p->text, &p->size));
}

static bool part_end(part *p, FILE *out, uint32_t field) {
    const bool good = fclose(p->out) == 0;
    if (good) bytes(out, field, p->text, p->size);
    free(p->text);
    return good;
}

static bool two_numbers(FILE *out, uint32_t field, uint32_t a, uint64_t x, uint32_t b, uint64_t y) {
    part p;
    if (!part_begin(&p)) return false;
    number(p.out, a, x), number(p.out, b, y);
    return part_end(&p, out, field);
}

static bool write_stack(const call_tree *tree, int64_t k, FILE *out) {
    part p;
    if (!part_begin(&p)) return false;
    for (; k >= 0; k = tree->paths[k].parent) varint(p.out, tree->paths[k].fn + 1);
    return part_end(&p, out, SAMPLE_LOCATIONS);
}

static bool write_sample(const call_tree *tree, uint32_t k, int mode, uint64_t count, FILE *out) {
    part p;
    if (!part_begin(&p)) return false;
    bool good = write_stack(tree, k, p.out);
    number(p.out, SAMPLE_VALUES, count);
    good = two_numbers(p.out, SAMPLE_LABEL, LABEL_KEY, TEXT_MODE, LABEL_TEXT, TEXT_MODES + (uint64_t)mode) && good;
    return part_end(&p, out, SAMPLE) && good;
}

static bool write_function(const call_tree *tree, uint32_t fn, FILE *out) {
    part f, l;
    const uint64_t text = TEXT_FUNCTIONS + 2 * (uint64_t)fn;
    if (!part_begin(&f)) return false;
    number(f.out, FUNCTION_ID, fn + 1ull);
    number(f.out, FUNCTION_NAME, text), number(f.out, FUNCTION_SYSTEM_NAME, text), number(f.out, FUNCTION_FILE, text + 1);
    number(f.out, FUNCTION_LINE, tree->fns[fn].line);
    if (!part_end(&f, out, FUNCTION) || !part_begin(&l)) return false;
    number(l.out, LOCATION_ID, fn + 1ull);
    const bool good = two_numbers(l.out, LOCATION_LINE, LINE_FUNCTION, fn + 1ull, LINE_NUMBER, tree->fns[fn].line);
    return part_end(&l, out, LOCATION) && good;
}

static void write_text(const char *text, FILE *out) {
    bytes(out, STRING_TABLE, text ? text : "", text ? strlen(text) : 0);
}

static void write_texts(const call_tree *tree, FILE *out) {
    static const char *const fixed[TEXT_MODES] = {"", "instructions", "count", "mode"};
    for (int k = 0; k < TEXT_MODES; k++) write_text(fixed[k], out);
    for (int mode = 0; mode < RVM_PROFILE_MODES; mode++) write_text(rvm_profile_mode_name((rvm_profile_mode)mode), out);
    for (uint32_t fn = 0; fn < tree->nfns; fn++) write_text(tree->fns[fn].name, out), write_text(tree->fns[fn].file, out);
}

bool call_tree_pprof(const call_tree *tree, FILE *out) {
    bool good = two_numbers(out, SAMPLE_TYPE, VALUE_TYPE, TEXT_INSTRUCTIONS, VALUE_UNIT, TEXT_COUNT);
    for (int mode = 0; mode < RVM_PROFILE_MODES; mode++)
        for (uint32_t k = 0; k < tree->npaths && good; k++) {
            const uint64_t n = profile_of_mode(&tree->paths[k].own, mode);
            if (n) good = write_sample(tree, k, mode, n, out);
        }
    for (uint32_t fn = 0; fn < tree->nfns && good; fn++) good = write_function(tree, fn, out);
    write_texts(tree, out);
    return good;
}
