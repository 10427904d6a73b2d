/* header.c: the C header of a function that is compiled ahead of time: what it takes, and what that means. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include "header.h"
#include "builder.h"
#include "support.h"

#include <ctype.h>
#include <dlfcn.h>
#include <string.h>

#include "c_function.h"

/* ---- names ---- */

static const char *const reserved[] = {/* of C and C++, and those that the header itself uses */
                                       "alignas",
                                       "alignof",
                                       "and",
                                       "and_eq",
                                       "asm",
                                       "auto",
                                       "bitand",
                                       "bitor",
                                       "bool",
                                       "break",
                                       "case",
                                       "catch",
                                       "char",
                                       "class",
                                       "compl",
                                       "concept",
                                       "const",
                                       "consteval",
                                       "constexpr",
                                       "constinit",
                                       "const_cast",
                                       "continue",
                                       "co_await",
                                       "co_return",
                                       "co_yield",
                                       "decltype",
                                       "default",
                                       "delete",
                                       "do",
                                       "double",
                                       "dynamic_cast",
                                       "else",
                                       "enum",
                                       "explicit",
                                       "export",
                                       "extern",
                                       "false",
                                       "float",
                                       "for",
                                       "friend",
                                       "goto",
                                       "if",
                                       "inline",
                                       "int",
                                       "int64_t",
                                       "long",
                                       "mutable",
                                       "namespace",
                                       "new",
                                       "noexcept",
                                       "not",
                                       "not_eq",
                                       "nullptr",
                                       "operator",
                                       "or",
                                       "or_eq",
                                       "private",
                                       "protected",
                                       "public",
                                       "register",
                                       "reinterpret_cast",
                                       "requires",
                                       "restrict",
                                       "return",
                                       "short",
                                       "signed",
                                       "sizeof",
                                       "static",
                                       "static_assert",
                                       "static_cast",
                                       "struct",
                                       "switch",
                                       "template",
                                       "this",
                                       "thread_local",
                                       "throw",
                                       "true",
                                       "try",
                                       "typedef",
                                       "typeid",
                                       "typename",
                                       "typeof",
                                       "union",
                                       "unsigned",
                                       "using",
                                       "virtual",
                                       "void",
                                       "volatile",
                                       "wchar_t",
                                       "while",
                                       "xor",
                                       "xor_eq"};

/* Macros of C's headers, which a file may have included before, and of compilers. */
static const char *const macros[] = {"EOF",    "HUGE_VAL", "I",      "INFINITY", "M_E",      "M_PI",
                                     "NAN",    "NULL",     "errno",  "complex",  "linux",    "noreturn",
                                     "stderr", "stdin",    "stdout", "unix",     "imaginary"};

/* Of limits.h and stdint.h: INT64_MAX, UINT8_C. */
static bool is_limit(const char *name) {
    static const char *const ends[] = {"_MAX", "_MIN", "_WIDTH", "_C"};
    const size_t length = strlen(name);
    for (const char *c = name; *c; c++)
        if (islower((unsigned char)*c)) return false;
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        const size_t end = strlen(ends[k]);
        if (length > end && strcmp(name + length - end, ends[k]) == 0) return true;
    }
    return false;
}

static bool is_reserved(const char *name) {
    if (is_limit(name)) return true;
    if (name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1]))) return true;
    for (size_t k = 0; k < sizeof reserved / sizeof *reserved; k++)
        if (strcmp(name, reserved[k]) == 0) return true;
    for (size_t k = 0; k < sizeof macros / sizeof *macros; k++)
        if (strcmp(name, macros[k]) == 0) return true;
    return false;
}

/* What C has no use for becomes _, which ends no name. False: it does not fit. */
static bool make_name(const char *from, char *to, size_t size) {
    size_t n = 0;
    for (; *from; from++) {
        const bool word = isalnum((unsigned char)*from) || *from == '_';
        if (!word && !from[1]) continue;
        if (n + 2 >= size) return false;
        to[n++] = (char)(word ? *from : '_');
    }
    to[n] = 0;
    if (is_reserved(to)) strcat(to, "_");
    return true;
}

static bool is_c_name(const char *name) {
    if (!isalpha((unsigned char)*name) && *name != '_') return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_') return false;
    return true;
}

rvm_status rvm__c_name(const rvm_program *p, uint32_t fn, const char *wanted, char *name, rvm_error *err) {
    const char *own = p->functions[fn].name;
    if (!make_name(wanted ? wanted : own, name, RVM__C_NAME))
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "the name of a C function has at most %d characters: choose one",
                         RVM__C_NAME - 2);
    if (wanted && (!is_c_name(wanted) || is_reserved(wanted)))
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "`%.100s` cannot be the name of a C function", wanted);
    if (strcmp(name, "main") == 0 || dlsym(RTLD_DEFAULT, name))
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "the C library has a function `%.100s`: choose another name", name);
    return RVM_OK;
}

/* ---- the parameters of the C function ---- */

enum { NAME = 128, MOST = RVM_MAX_PARAMS * (1 + RVM_MAX_DIMS) };

typedef struct writer {
    const rvm__lowering *what;
    uint64_t stack;
    const rvm_function *f;
    FILE *out;
    rvm__c_lengths lengths;
    char name[MOST][NAME]; /* of the parameters, then of the lengths; each once */
} writer;

static const char *length_name(const writer *w, uint32_t k) {
    const char *name = rvm__symbol_at(w->f, false, w->lengths.slot[k], 0);
    return name ? name : "length";
}

static void name_all(writer *w) {
    const uint32_t n = w->f->nparams + w->lengths.n;
    for (uint32_t k = 0; k < n; k++) {
        const char *from = k < w->f->nparams ? w->f->params[k].name : length_name(w, k - w->f->nparams);
        char *to = w->name[k], rest[16];
        if (!make_name(from, to, NAME - 16)) snprintf(to, NAME, "p%u", k);
        bool taken = strcmp(to, w->what->standalone) == 0;
        for (uint32_t i = 0; i < k; i++) taken |= strcmp(to, w->name[i]) == 0;
        snprintf(rest, sizeof rest, "_%u", k);
        if (taken) strcat(to, rest);
    }
}

static const char *c_type_of(rvm_type t) {
    return rvm__is_floating(t) ? "double" : "int64_t";
}

static void declare(const writer *w, const char *name) {
    const char *between = "";
    fprintf(w->out, "int %s(", name);
    for (uint32_t k = 0; k < w->f->nparams; k++, between = ", ") {
        const rvm_param *p = &w->f->params[k];
        fprintf(w->out, "%s%s%s %s%s", between, p->ndim && p->role == RVM_READ ? "const " : "", c_type_of((rvm_type)p->type),
                rvm__c_by_value(p) ? "" : "*", w->name[k]);
    }
    for (uint32_t k = 0; k < w->lengths.n; k++, between = ", ")
        fprintf(w->out, "%sint64_t %s", between, w->name[w->f->nparams + k]);
    fprintf(w->out, "%s);\n", *between ? "" : "void");
}

static void describe_lengths(const writer *w, const rvm_param *p) {
    for (int d = 0; d < p->ndim; d++) {
        fputc(d ? ',' : '[', w->out);
        for (uint32_t k = 0; k < w->lengths.n; k++)
            if (w->lengths.slot[k] == p->dim[d]) fputs(w->name[w->f->nparams + k], w->out);
        if (p->dim[d] >= w->f->nregs) fprintf(w->out, "%lld", (long long)w->f->consts[p->dim[d] - w->f->nregs].i);
    }
    if (p->ndim) fputc(']', w->out);
}

/* The functions that a function value may be, by number. */
static void describe_values(const writer *w, const rvm_param *p) {
    const char *between = ": ";
    for (uint32_t fn = 0; fn < w->what->p->nfunctions; fn++) {
        if (!w->what->p->functions[fn].value || !rvm__fits(w->what->p, fn, p->signature - 1u)) continue;
        fprintf(w->out, "%s%u is %s", between, fn, w->what->p->functions[fn].name);
        between = ", ";
    }
}

static void describe(const writer *w) {
    static const char *const roles[] = {[RVM_READ] = "read", [RVM_ACC] = "added to", [RVM_OWN] = "changed"};
    for (uint32_t k = 0; k < w->f->nparams; k++) {
        const rvm_param *p = &w->f->params[k];
        fprintf(w->out, " *   %s", w->name[k]);
        describe_lengths(w, p);
        fprintf(w->out, "  %s", roles[p->role]);
        if (p->type == RVM_F32) fputs("; f32: doubles that a float holds", w->out);
        if (p->type == RVM_FIX) fprintf(w->out, "; fix: the number times 2^%d", RVM_FIX_FRACTION);
        if (p->signature) fputs("; the number of a function", w->out), describe_values(w, p);
        if (strcmp(p->name, w->name[k]) != 0) fprintf(w->out, "; %s", p->name);
        fputc('\n', w->out);
    }
    for (uint32_t k = 0; k < w->lengths.n; k++) fprintf(w->out, " *   %s  a length\n", w->name[w->f->nparams + k]);
}

/* ---- the file ---- */

/* Whether some function of the program computes what libm has not. */
static bool calls_own(const rvm_program *p) {
    bool own[RVM_ROW_COUNT] = {false};
#define LIBM(name)
#define OWN(name)                                 own[RVM_ROW_##name] = true;
#define FUNCTION(name, shape, who, error, serves) who(name)
#include "functions.def"
#undef LIBM
#undef OWN
#undef FUNCTION
    for (uint32_t n = 0; n < p->nfunctions; n++)
        RVM__EACH_INSN(x, &p->functions[n])
            if (rvm__op_is_update((rvm_op)x.in->op) && own[x.in->row]) return true;
    return false;
}

static bool is_sleefs(const rvm__lowering *what) {
    return what->math == RVM_MATH_SLEEF && !what->fast;
}

static void write_contract(const writer *w, const char *name) {
    fprintf(
        w->out,
        " *\n"
        " * Arrays are row-major without gaps. What is not only read overlaps nothing else that is given.\n"
        " * The result is 0, or another number where a check of the program fails, memory runs out or calls go more than\n"
        " * %u deep: %s%s puts it into words. What is not only read is then unspecified.\n",
        w->what->depth, name, RVM__C_MESSAGE);
    fprintf(w->out, " * It takes at most %llu bytes of stack, and some KiB for functions of libm",
            (unsigned long long)w->stack);
    fputs(w->stack >= w->what->stack ? "; calls that would take more end with such a number.\n" : ".\n", w->out);
    if (w->what->unchecked) fputs(" * What the program asserts of its values is not checked.\n", w->out);
    if (w->what->trust) fputs(" * Indices and lengths are not checked: what is out of bounds is undefined.\n", w->out);
    if (is_sleefs(w->what)) fputs(" * Elementary functions are SLEEF's: the processor must have FMA and AVX2.\n", w->out);
    fprintf(w->out, " * Any number of threads may call it. It needs the C library and libm%s.\n */\n",
            is_sleefs(w->what) || calls_own(w->what->p) ? ", and librvm for rvm_functions.h" : "");
}

static void write_guard(const writer *w, const char *name, const char *directive) {
    fputs(directive, w->out);
    for (const char *c = name; *c; c++) fputc(toupper((unsigned char)*c), w->out);
    fputs("_H\n", w->out);
}

/* In a comment, which ends with the first of what it may not hold. */
static void write_in_comment(const char *s, FILE *out) {
    for (; *s; s++) fputs(*s == '*' && s[1] == '/' ? "* " : (const char[]){*s, 0}, out);
}

void rvm__header_write(const rvm__lowering *what, uint64_t stack, FILE *out) {
    writer w = {.what = what, .stack = stack, .f = &what->p->functions[what->fn], .out = out};
    const char *name = what->standalone, *file;
    uint32_t line, column;
    rvm__c_lengths_find(w.f, &w.lengths);
    name_all(&w);
    rvm_program_position(what->p, what->fn, 0, &file, &line, &column);
    fprintf(out, "/* %s", w.f->name);
    if (file && line) {
        fputs(", ", out);
        write_in_comment(file, out);
        fprintf(out, ":%u", line);
    }
    fputs(", compiled by rvm " RVM_VERSION_STRING ".\n *\n", out);
    describe(&w);
    write_contract(&w, name);
    write_guard(&w, name, "#ifndef ");
    write_guard(&w, name, "#define ");
    fputs("\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n", out);
    declare(&w, name);
    fprintf(out, "const char *%s%s(int status);\n\n#ifdef __cplusplus\n}\n#endif\n#endif\n", name, RVM__C_MESSAGE);
}
