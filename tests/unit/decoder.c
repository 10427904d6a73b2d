/* decoder.c: bytecode that is truncated, damaged, foreign, newer, or made to pass the checksum and lie. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

typedef struct file {
    unsigned char *bytes;
    size_t size;
} file;

static file sample(void) {
    report rep = {.name = "decoder"};
    rvm_program *p = assemble_text(sample_text, NULL, &rep);
    void *bytes = NULL;
    file f = {0};
    cr_assert(p && rvm_program_save(p, &bytes, &f.size, NULL) == RVM_OK);
    f.bytes = malloc(f.size);
    cr_assert(f.bytes);
    memcpy(f.bytes, bytes, f.size);
    rvm_program_free_bytes(p, bytes, f.size);
    rvm_program_free(p);
    return f;
}

/* A copy of exactly this size, so that a sanitizer sees a read past its end. */
static rvm_status load(const unsigned char *bytes, size_t size, rvm_program **out, rvm_error *e) {
    unsigned char *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    *out = NULL;
    rvm_status s = rvm_program_load(copy, size, "some.rbc", NULL, out, e);
    cr_assert((s == RVM_OK) == (*out != NULL));
    free(copy);
    return s;
}

Test(decoder, loads) {
    file f = sample();
    rvm_program *p;
    rvm_error e;
    cr_assert(load(f.bytes, f.size, &p, &e) == RVM_OK);
    cr_assert(rvm_program_find(p, "all") == 3 && rvm_program_function_count(p) == 4);
    rvm_program_free(p);
    free(f.bytes);
}

Test(decoder, truncated_anywhere) {
    file f = sample();
    rvm_program *p;
    rvm_error e;
    for (size_t n = 0; n < f.size; n += TRY_ONE_IN) {
        cr_assert(load(f.bytes, n, &p, &e) == RVM_ERR_FORMAT, "%zu of %zu bytes", n, f.size);
        cr_assert(strstr(e.file, "some.rbc") && e.message[0]);
    }
    free(f.bytes);
}

Test(decoder, bytes_behind_the_end) {
    file f = sample();
    rvm_program *p;
    rvm_error e;
    unsigned char *more = calloc(1, f.size + 3);
    memcpy(more, f.bytes, f.size);
    cr_assert(load(more, f.size + 1, &p, &e) == RVM_ERR_FORMAT);
    cr_assert(bytecode_seal(more, f.size + 3) && load(more, f.size + 3, &p, &e) == RVM_ERR_FORMAT);
    free(more);
    free(f.bytes);
}

Test(decoder, any_bit_flipped) {
    file f = sample();
    rvm_program *p;
    rvm_error e;
    for (size_t bit = 0; bit < 8 * f.size; bit += TRY_ONE_IN) {
        f.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        rvm_status s = load(f.bytes, f.size, &p, &e);
        cr_assert(s == RVM_ERR_FORMAT || s == RVM_ERR_VERSION, "bit %zu: %s", bit, rvm_status_name(s));
        rvm_program_free(p);
        f.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    free(f.bytes);
}

static void refused_as_other(const file *f, const char *why) {
    rvm_program *p;
    rvm_error e;
    cr_assert(load(f->bytes, f->size, &p, &e) == RVM_ERR_VERSION);
    cr_assert(strstr(e.message, why) && strstr(e.message, "assemble it again"), "%s", e.message);
}

Test(decoder, container_of_another_version) {
    file f = sample();
    for (int k = 0; k < 2; k++) {
        f.bytes[RVM_RBC_AT_VERSION + k]++;
        refused_as_other(&f, "container of another version");
        f.bytes[RVM_RBC_AT_VERSION + k]--;
    }
    free(f.bytes);
}

/* Numbers of opcodes, rows and types mean nothing beside other tables than those they were written with. */
Test(decoder, other_tables) {
    file f = sample();
    for (int k = RVM_RBC_AT_TABLES; k < RVM_RBC_AT_LENGTH; k++) {
        f.bytes[k]++;
        refused_as_other(&f, "other tables of instructions");
        f.bytes[k]--;
    }
    for (int k = RVM_RBC_AT_TYPES; k < RVM_RBC_AT_TABLES; k += 2) {
        f.bytes[k]++;
        refused_as_other(&f, "larger tables of instructions");
        f.bytes[k] -= 2;
        refused_as_other(&f, "other tables of instructions");
        f.bytes[k]++;
    }
    free(f.bytes);
}

static void put(unsigned char *to, uint64_t value, int size) {
    for (int k = 0; k < size; k++) to[k] = (unsigned char)(value >> 8 * k);
}

/* A file as a library wrote it whose rows.def had less at its end: read, as long as it does not use what it had not. */
Test(decoder, tables_that_have_grown) {
    file f = sample();
    rvm_program *p;
    rvm_error e;
    rvm_tables older = rvm__tables;
    for (unsigned read = 0; older.rows > 0; older.rows--, read++) {
        put(f.bytes + RVM_RBC_AT_ROWS, older.rows, 2);
        put(f.bytes + RVM_RBC_AT_TABLES, rvm__tables_fingerprint(older), 8);
        const rvm_status s = load(f.bytes, f.size, &p, &e);
        rvm_program_free(p);
        if (s == RVM_OK) continue;
        cr_assert(s == RVM_ERR_FORMAT && strstr(e.message, "unknown row") && read > 0, "%s", e.message);
        break;
    }
    cr_assert(older.rows > 0);
    free(f.bytes);
}

Test(decoder, foreign) {
    static const char *const texts[] = {"", "fn f(x: real)\nend\n",
                                        ("\x7f"
                                         "ELF"),
                                        "\x89RVM", "\x93NUMPY\x01"};
    rvm_program *p;
    rvm_error e;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        cr_assert(load((const unsigned char *)texts[k], strlen(texts[k]), &p, &e) == RVM_ERR_FORMAT, "text %zu", k);
    cr_assert(rvm_program_load_file("/nonexistent/x.rbc", NULL, &p, &e) == RVM_ERR_IO);
    cr_assert_str_eq(e.message, "cannot open /nonexistent/x.rbc: No such file or directory");
    cr_assert_str_eq(e.file, "/nonexistent/x.rbc");
}

/* With a right checksum every byte may be anything: the decoder and the verifier judge, and what passes runs safely. */
Test(decoder, lies_with_a_right_checksum, .timeout = 120) {
    file f = sample();
    rvm_program *p;
    rvm_error e;
    rng r = {1};
    unsigned passed = 0, refused = 0;
    for (size_t at = RVM_RBC_HEADER; at < f.size; at += TRY_ONE_IN)
        for (int k = 0; k < 6; k++) {
            unsigned char old = f.bytes[at];
            f.bytes[at] = k == 0 ? 0 : k == 1 ? 0xff : k == 2 ? old + 1 : k == 3 ? old ^ 0x80 : (unsigned char)rng_next(&r);
            bytecode_seal(f.bytes, f.size);
            rvm_status s = load(f.bytes, f.size, &p, &e);
            cr_assert(s == RVM_OK || s == RVM_ERR_FORMAT || s == RVM_ERR_VERIFY || s == RVM_ERR_ALIAS, "byte %zu: %s: %s",
                      at, rvm_status_name(s), e.message);
            if (p && k == (int)(at % 3)) exercise(p, at);
            *(p ? &passed : &refused) += 1;
            rvm_program_free(p);
            f.bytes[at] = old;
        }
    cr_assert(passed > 0 && refused > passed / 4, "%u passed, %u refused", passed, refused);
    free(f.bytes);
}

/* Several bytes at once, and parts moved about. */
Test(decoder, larger_lies, .timeout = 120) {
    file f = sample();
    rng r = {2};
    unsigned char *copy = malloc(f.size);
    for (int k = 0; k < 2000 / TRY_ONE_IN; k++) {
        rvm_program *p;
        rvm_error e;
        memcpy(copy, f.bytes, f.size);
        for (uint32_t n = 1 + rng_below(&r, 6); n > 0; n--) {
            uint32_t body = (uint32_t)f.size - RVM_RBC_HEADER, length = 1 + rng_below(&r, 8);
            uint32_t to = RVM_RBC_HEADER + rng_below(&r, body - length),
                     from = RVM_RBC_HEADER + rng_below(&r, body - length);
            memmove(copy + to, copy + from, length);
        }
        bytecode_seal(copy, f.size);
        load(copy, f.size, &p, &e);
        if (p) exercise(p, (uint64_t)k);
        rvm_program_free(p);
    }
    free(copy);
    free(f.bytes);
}

/* A file whose table of counts claims more than there are bytes must not make the loader take memory for it. */
Test(decoder, claims_of_size) {
    rvm_program *p;
    rvm_error e;
    for (size_t at = RVM_RBC_HEADER; at < RVM_RBC_HEADER + 16; at++) {
        unsigned char bytes[RVM_RBC_HEADER + 24] = "\x89RVM";
        counting c;
        counting_init(&c);
        memset(bytes + at, 0xff, 4);
        bytes[at + 4] = 0x0f;
        bytecode_seal(bytes, sizeof bytes);
        cr_assert(rvm_program_load(bytes, sizeof bytes, "big.rbc", &c.al, &p, &e) != RVM_OK);
        cr_assert(c.live_blocks == 0 && c.calls < 100 && c.largest < 1 << 20, "%llu", (unsigned long long)c.largest);
    }
}
