/* program.c: what a program tells about itself; statuses, types, fix; files. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "program.h"

static rvm_program *sample(void) {
    report rep = {.name = "program"};
    rvm_program *p = assemble_text(sample_text, NULL, &rep);
    cr_assert(p);
    return p;
}

Test(program, statuses) {
#define X(name, exit_status, text_)                                                                                         \
    cr_assert(!strcmp(rvm_status_name(RVM_ERR_##name), #name) && !strcmp(rvm_status_text(RVM_ERR_##name), text_));          \
    cr_assert(rvm_status_exit(RVM_ERR_##name) == exit_status);
    RVM_STATUS_MAP(X)
#undef X
    cr_assert(rvm_status_name((rvm_status)9999) && rvm_status_text((rvm_status)-1));
    cr_assert(!strcmp(rvm_type_name(RVM_I64), "i64") && !strcmp(rvm_type_name((rvm_type)77), "?"));
    cr_assert(!strcmp(rvm_role_name(RVM_ACC), "accumulate"));
}

Test(program, fix) {
    cr_assert(rvm_fix_from_double(1.5) == 3ll << 42 && rvm_fix_to_double(-(1ll << 43)) == -1);
    cr_assert(rvm_fix_from_double(0x1p-44) == 0, "a tie goes to even");
    cr_assert(rvm_fix_from_double(3 * 0x1p-44) == 2, "a tie goes to even");
    cr_assert(rvm_fix_from_double(-0x1p-44) == 0 && rvm_fix_from_double(0x1.8p-44) == 1);
    cr_assert(rvm_fix_from_double(NAN) == 0);
    cr_assert(rvm_fix_from_double(INFINITY) == INT64_MAX && rvm_fix_from_double(-1e300) == INT64_MIN);
    cr_assert(rvm_fix_from_double(0x1p20) == INT64_MAX && rvm_fix_from_double(-0x1p20) == INT64_MIN);
    rng r = {3};
    for (int k = 0; k < 100000; k++) {
        int64_t v = (int64_t)rng_next(&r) >> (11 + rng_below(&r, 40)); /* 53 bits: exact */
        cr_assert(rvm_fix_from_double(rvm_fix_to_double(v)) == v);
    }
}

Test(program, parameters) {
    rvm_program *p = sample();
    int64_t fn = rvm_program_find(p, "all");
    rvm_param_info i;
    cr_assert(fn >= 0 && rvm_program_find(p, "nothing") == -1);
    cr_assert(!strcmp(rvm_program_function_name(p, (uint32_t)fn), "all") && !rvm_program_function_name(p, 99));
    cr_assert(rvm_program_param_count(p, (uint32_t)fn) == 5);
    cr_assert(rvm_program_param(p, (uint32_t)fn, 2, &i) == RVM_OK);
    cr_assert(!strcmp(i.name, "A") && i.type == RVM_F64 && i.ndim == 2 && i.role == RVM_READ);
    cr_assert(!strcmp(i.dim_name[0], "m") && !strcmp(i.dim_name[1], "n") && i.dim_value[0] == -1);
    cr_assert(rvm_program_param(p, (uint32_t)fn, 0, &i) == RVM_OK && i.role == RVM_ACC && i.ndim == 0);
    cr_assert(rvm_program_param(p, (uint32_t)fn, 5, &i) == RVM_ERR_USAGE);
    cr_assert(rvm_program_param(p, 99, 0, &i) == RVM_ERR_USAGE);
    bool proved = true;
    const int64_t block = rvm_program_block(p, (uint32_t)fn, 0, &proved);
    cr_assert(block > 0 && !proved && rvm_program_block(p, (uint32_t)fn, 1, NULL) < 0 &&
              rvm_program_block(p, 99, 0, NULL) < 0);
    rvm_program_free(p);
    rvm_program_free(NULL);
}

Test(program, positions_and_text) {
    rvm_program *p = sample();
    for (uint32_t fn = 0; fn < rvm_program_function_count(p); fn++)
        for (uint32_t pc = 0; pc < rvm_program_code_size(p, fn); pc++) {
            const char *file = NULL;
            uint32_t line = 0, column = 0;
            char text[200], cut[5];
            rvm_program_position(p, fn, pc, &file, &line, &column);
            cr_assert(file && !strcmp(file, "test.rasm") && line > 0, "function %u, pc %u", fn, pc);
            int n = rvm_program_instruction_text(p, fn, pc, text, sizeof text);
            cr_assert(n > 0 && strlen(text) == (size_t)n);
            cr_assert(rvm_program_instruction_text(p, fn, pc, cut, sizeof cut) == n && strlen(cut) <= 4);
        }
    cr_assert(rvm_program_code_size(p, 99) == 0);
    rvm_program_free(p);
}

Test(program, instructions) {
    static const char text[] = "fn g(y: f64)\n    y += 1.0\nend\n"
                               "fn f(y: f64, x: f64[n])\n    for i in 0..n\n        y += x[i] * x[i]\n    end\n"
                               "    call g(y)\nend\n";
    report rep = {.name = "instructions"};
    rvm_program *p = assemble_text(text, NULL, &rep);
    const uint32_t fn = (uint32_t)rvm_program_find(p, "f");
    rvm_instruction in, mate;
    uint32_t seen = 0, pc = 0;
    char place[16];
    for (; rvm_program_instruction(p, fn, pc, &in); pc++) {
        if (in.target >= 0) {
            cr_assert(rvm_program_instruction(p, fn, (uint32_t)in.target, &mate) && mate.target == pc);
            seen |= 1;
        }
        if (in.callee >= 0) {
            cr_assert(in.callee == rvm_program_find(p, "g") && !strcmp(in.mnemonic, "call") && !in.row);
            seen |= 2;
        }
        if (in.row && !strcmp(in.row, "mul")) {
            cr_assert(!strcmp(in.mnemonic, "add") && in.places == 3);
            cr_assert(rvm_program_place_text(p, fn, pc, 0, place, sizeof place) == 1 && !strcmp(place, "y"));
            cr_assert(rvm_program_place_text(p, fn, pc, 2, place, 4) == 4 && !strcmp(place, "x[i"));
            cr_assert(!rvm_program_place_text(p, fn, pc, 3, place, sizeof place) && !*place);
            seen |= 4;
        }
    }
    cr_assert(seen == 7 && pc == rvm_program_code_size(p, fn));
    const char *file;
    rvm_program_position(p, fn, 1, &file, NULL, NULL);
    cr_assert(file && rvm_program_file(p, 0) == file && !rvm_program_file(p, 1));
    rvm_program_free(p);
}

Test(program, components) {
    static const char text[] = "fn f(y: complex, n: i64, x: complex[m], l: lns, k: lns)\n    y += x[0]\n    l *= k\nend\n";
    static const struct {
        const char *name, *whole;
        rvm_component is;
        uint32_t other;
    } is[] = {{"y.re", "y", RVM_COMPONENT_RE, 1}, {"y.im", "y", RVM_COMPONENT_IM, 0}, {"n", "n", RVM_COMPONENT_WHOLE, 2},
              {"x.re", "x", RVM_COMPONENT_RE, 4}, {"x.im", "x", RVM_COMPONENT_IM, 3}, {"l.log", "l", RVM_COMPONENT_LOG, 5}};
    report rep = {.name = "components"};
    rvm_program *p = assemble_text(text, NULL, &rep);
    rvm_param_info info;
    char whole[8];
    uint32_t other;
    for (uint32_t i = 0; i < 6; i++) {
        cr_assert(!rvm_program_param(p, 0, i, &info) && !strcmp(info.name, is[i].name));
        cr_assert(rvm_program_component(p, 0, i, &other, whole, sizeof whole) == is[i].is);
        cr_assert(!strcmp(whole, is[i].whole) && other == is[i].other);
    }
    rvm_program *derived;
    uint32_t fn;
    cr_assert(!rvm_program_derive(p, "f'tan[y]", &derived, &fn, NULL));
    cr_assert(rvm_program_component(derived, fn, 1, &other, whole, sizeof whole) == RVM_COMPONENT_RE && other == 3);
    cr_assert(!strcmp(whole, "y_d"));
    rvm_program_free(derived);
    rvm_program_free(p);
}

Test(program, identity) {
    rvm_program *p = sample(), *q = sample();
    report rep = {.name = "identity"};
    rvm_program *other = assemble_text("fn f(x: i64)\n    x += 1\nend\n", NULL, &rep);
    uint64_t a[2], b[2], c[2];
    rvm_program_id(p, a);
    rvm_program_id(q, b);
    rvm_program_id(other, c);
    cr_assert(!memcmp(a, b, sizeof a) && memcmp(a, c, sizeof a) && (a[0] | a[1]));
    rvm_program_free(p);
    rvm_program_free(q);
    rvm_program_free(other);
}

/* Saved through a temporary, loaded back as the same program, told from source by its first bytes. */
Test(program, files) {
    rvm_program *p = sample(), *q = NULL;
    rvm_error e;
    char dir[] = "/tmp/rvm-test-XXXXXX", path[64], text[64];
    uint64_t a[2], b[2];
    cr_assert(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/p.rbc", dir);
    snprintf(text, sizeof text, "%s/p.rasm", dir);
    cr_assert(rvm_program_save_file(p, path, &e) == RVM_OK);
    cr_assert(rvm_program_load_file(path, NULL, &q, &e) == RVM_OK);
    rvm_program_id(p, a);
    rvm_program_id(q, b);
    cr_assert(!memcmp(a, b, sizeof a));
    rvm_program_free(q);
    cr_assert(rvm_open(path, NULL, &q, &e, NULL, NULL) == RVM_OK);
    rvm_program_free(q);
    FILE *f = fopen(text, "w");
    fputs(sample_text, f);
    fclose(f);
    cr_assert(rvm_open(text, NULL, &q, &e, NULL, NULL) == RVM_OK);
    rvm_program_free(q);
    cr_assert(rvm_program_save_file(p, "/nonexistent/p.rbc", &e) == RVM_ERR_IO && strstr(e.message, "/nonexistent"));
    cr_assert(rvm_open("/nonexistent/p.rbc", NULL, &q, &e, NULL, NULL) == RVM_ERR_IO && !q);
    remove(path);
    remove(text);
    cr_assert(rmdir(dir) == 0, "a temporary file was left");
    rvm_program_free(p);
}

/* What a derived function takes: a shadow behind each parameter that is listed, and behind no other. */
Test(program, listed_parameters) {
    static const struct {
        const char *name, *params;
    } derived[] = {{"f'tan", "y y_d a a_d k b b_d "},   {"f'tan[y, b]", "y y_d a k b b_d "},
                   {"f'tan[y,a]", "y y_d a a_d k b "},  {"f'adj[y,b]", "y y_b a k b b_b "},
                   {"f'grad[b,y]", "y y_b a k b b_b "}, {"f'inv", "y a k b "}};
    static const char text[] = "fn f(y: f64, a: f64, k: i64, b: f64)\n    y += a * b * k\nend\n";
    report rep = {.name = "program"};
    rvm_program *p = assemble_text(text, NULL, &rep);
    cr_assert(p);
    for (size_t k = 0; k < sizeof derived / sizeof *derived; k++) {
        char params[100] = "";
        rvm_program *q = NULL;
        rvm_param_info info;
        rvm_error e;
        uint32_t fn;
        cr_assert(rvm_program_derive(p, derived[k].name, &q, &fn, &e) == RVM_OK, "%s", e.message);
        for (uint32_t i = 0; !rvm_program_param(q, fn, i, &info); i++) strcat(strcat(params, info.name), " ");
        cr_assert_str_eq(params, derived[k].params, "%s takes %s", derived[k].name, params);
        rvm_program_free(q);
    }
    rvm_program_free(p);
}

Test(program, parts_of_names) {
    static const char *const names[][2] = {
        {"y.log[2]", "y[2]"},         {"z.re", "z"},        {"s.z.im[i, 0]", "s.z[i, 0]"}, {"z.re_b", "z_b"},
        {"y.log_b_d[k]", "y_b_d[k]"}, {"s.real", "s.real"}, {"s.u[i]", "s.u[i]"},          {"x", "x"},
        {"s.re_most", "s.re_most"},
    };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char text[32];
        snprintf(text, sizeof text, "%s", names[k][0]);
        rvm__drop_part(text);
        cr_expect_str_eq(text, names[k][1], "%s becomes %s", names[k][0], text);
    }
}
