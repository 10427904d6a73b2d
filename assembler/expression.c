/* expression.c: an expression over named places, for debuggers: as a function of a source of its own, which is assembled.
 *
 *     fn value(VALUE: i64, x: f64[d0_0], i: i64)
 *     VALUE += EXPRESSION
 *     end
 *
 * Names with points, as z.re, stand there under another name. VALUE is of the first type by which it can be assembled. */
#include "rvm_asm.h"
#include "support.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_USED = RVM_MAX_PARAMS - 1 };

typedef struct writing {
    const rvm_asm_name *names;
    uint32_t n;
    rvm_asm_used *used;
    const char *fresh; /* begins no name */
    rvm_math math;
    const rvm_allocator *al;
    char *text;
    size_t size, cap;
    bool failed; /* out of memory */
} writing;

/* ---- text that grows ---- */

static void put(writing *w, const char *text, size_t size) {
    if (w->size + size + 1 > w->cap) {
        const size_t cap = 2 * (w->size + size + 64);
        char *grown = w->failed ? NULL : rvm__realloc(w->al, w->text, w->cap, cap);
        if (!grown) {
            w->failed = true;
            return;
        }
        w->text = grown;
        w->cap = cap;
    }
    memcpy(w->text + w->size, text, size);
    w->text[w->size += size] = 0;
}

static void __attribute__((format(printf, 2, 3))) putf(writing *w, const char *format, ...) {
    char piece[400];
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(piece, sizeof piece, format, list);
    va_end(list);
    if (n > 0) put(w, piece, (size_t)n < sizeof piece ? (size_t)n : sizeof piece - 1);
}

/* ---- names ---- */

static bool is_letter(char c) {
    return isalpha((unsigned char)c) || c == '_';
}
static bool is_inner(char c) {
    return is_letter(c) || isdigit((unsigned char)c);
}

static size_t word_length(const char *s) {
    size_t n = 0;
    while (is_inner(s[n])) n++;
    return n;
}

/* The last of that name: it is the innermost. */
static int64_t find(const writing *w, const char *name, size_t length) {
    for (uint32_t k = w->n; k-- > 0;)
        if (strlen(w->names[k].name) == length && !memcmp(w->names[k].name, name, length)) return k;
    return -1;
}

static int64_t find_part(const writing *w, const char *name, size_t length, const char *part) {
    char whole[300];
    const int n = snprintf(whole, sizeof whole, "%.*s%s", (int)length, name, part);
    return (size_t)n < sizeof whole ? find(w, whole, (size_t)n) : -1;
}

/* False: there are too many. */
static bool use(writing *w, int64_t name) {
    for (uint32_t k = 0; k < w->used->n; k++)
        if (w->used->name[k] == name) return true;
    if (w->used->n == MOST_USED) return false;
    w->used->name[w->used->n++] = (uint32_t)name;
    return true;
}

/* What z and y are as wholes: the parts of a complex, one behind the other; that of an lns. */
static bool use_whole(writing *w, const char *name, size_t length) {
    const int64_t re = find_part(w, name, length, ".re"), im = find_part(w, name, length, ".im");
    const int64_t logarithm = find_part(w, name, length, ".log");
    if (re >= 0 && im >= 0) return use(w, re) && use(w, im);
    return logarithm < 0 || use(w, logarithm);
}

/* A name with its points, as far as there is such a name: its length. */
static size_t dotted(const writing *w, const char *s, int64_t *name) {
    size_t length = word_length(s), best = length;
    *name = find(w, s, length);
    while (s[length] == '.' && is_letter(s[length + 1])) {
        length += 1 + word_length(s + length + 1);
        const int64_t longer = find(w, s, length);
        if (longer >= 0) *name = longer, best = length;
    }
    return best;
}

/* A number, with its exponent. */
static size_t number_length(const char *s) {
    size_t n = 0;
    while (is_inner(s[n]) || (s[n] == '.' && s[n + 1] != '.') ||
           (n && (s[n] == '+' || s[n] == '-') && (s[n - 1] == 'e' || s[n - 1] == 'E') && s[1] != 'x'))
        n++;
    return n;
}

static void put_name(writing *w, int64_t name) {
    const char *s = w->names[name].name;
    if (strchr(s, '.'))
        putf(w, "%s%lld", w->fresh, (long long)name);
    else
        put(w, s, strlen(s));
}

/* The expression with names that the language has. False: more than may be used. */
static bool put_expression(writing *w, const char *s) {
    while (*s) {
        int64_t name = -1;
        const bool word = is_letter(*s), number = isdigit((unsigned char)*s);
        const size_t length = word ? dotted(w, s, &name) : number ? number_length(s) : 1;
        if (name >= 0 ? !use(w, name) : word && !use_whole(w, s, length)) return false;
        if (name >= 0)
            put_name(w, name);
        else
            put(w, s, length);
        s += length;
    }
    return true;
}

/* ---- parameters ---- */

static bool ends_with(const char *s, const char *end) {
    const size_t n = strlen(s), m = strlen(end);
    return n > m && !strcmp(s + n - m, end);
}

static void put_lengths(writing *w, uint32_t name, int ndim) {
    for (int d = 0; d < ndim; d++) putf(w, "%s%s%u_%d", d ? ", " : "[", w->fresh, name, d);
    if (ndim) put(w, "]", 1);
}

/* Both ways in which a place of parts may be used. */
static bool is_whole(const writing *w, const char *text, const char *name, const char *part) {
    const size_t length = strlen(name) - strlen(part);
    for (const char *s = text; *s;) {
        int64_t found;
        const size_t n = is_letter(*s) ? dotted(w, s, &found) : isdigit((unsigned char)*s) ? number_length(s) : 1;
        if (n == length && !memcmp(s, name, n)) return true;
        s += n;
    }
    return false;
}

/* Parameter k, and how many of the used names it is. */
static uint32_t put_param(writing *w, const char *expression, uint32_t k) {
    const uint32_t number = w->used->name[k];
    const rvm_asm_name *name = &w->names[number];
    const char *type = rvm_type_name(name->type);
    const bool pair = ends_with(name->name, ".re") && is_whole(w, expression, name->name, ".re");
    const bool lns = ends_with(name->name, ".log") && is_whole(w, expression, name->name, ".log");
    put(w, ", ", 2);
    if (pair || lns) {
        put(w, name->name, strlen(name->name) - (pair ? 3 : 4));
        type = pair ? "complex" : "lns";
    } else
        put_name(w, number);
    putf(w, ": %s", type);
    put_lengths(w, number, name->ndim);
    return pair ? 2 : 1;
}

/* ---- the source ---- */

static bool begins_a_name(const writing *w, const char *expression, const char *fresh) {
    bool any = strstr(expression, fresh) != NULL;
    for (uint32_t k = 0; k < w->n; k++) any |= strstr(w->names[k].name, fresh) != NULL;
    return any;
}

static rvm_status write(writing *w, const char *expression, rvm_type type, uint32_t *before, rvm_error *err) {
    static const char *const fresh[] = {"v_", "vv_", "vvv_", "w_", "ww_", "www_"};
    size_t k = 0;
    while (k + 1 < sizeof fresh / sizeof *fresh && begins_a_name(w, expression, fresh[k])) k++;
    w->fresh = fresh[k];
    w->size = 0;
    w->used->n = 0;
    if (!put_expression(w, expression))
        return rvm__fail(err, RVM_ERR_LIMIT, NULL, 0, 0, "the expression has more than %d places", MOST_USED);
    w->size = 0;
    putf(w, "fn value(%s: %s", w->fresh, rvm_type_name(type));
    for (uint32_t i = 0; i < w->used->n;) i += put_param(w, expression, i);
    putf(w, ")\n%s += ", w->fresh);
    *before = (uint32_t)strlen(w->fresh) + 4;
    put_expression(w, expression);
    put(w, "\nend\n", 5);
    return w->failed ? rvm__fail_memory(err) : RVM_OK;
}

static rvm_status try_type(writing *w, const char *expression, rvm_type type, const rvm_allocator *al, rvm_program **out,
                           rvm_error *err) {
    uint32_t before = 0;
    rvm_error e = {0};
    rvm_status status = write(w, expression, type, &before, err);
    if (status) return status;
    const rvm_asm_options o = {
        .real = type == RVM_I64 ? RVM_F64 : type, .math = w->math, .allocator = al, .max_errors = 1, .no_files = true};
    status = rvm_assemble(w->text, w->size, "expression", &o, out, &e, NULL, NULL);
    if (!status || !err) return status;
    *err = e;
    err->column = err->line == 2 && err->column > before ? err->column - before : 0;
    err->line = err->column ? 1 : 0;
    return status;
}

static rvm_status check(const char *text, const rvm_asm_name *names, uint32_t n, rvm_error *err) {
    if (strpbrk(text, "\n\r#") || text[strspn(text, " \t")] == 0)
        return rvm__fail(err, RVM_ERR_SYNTAX, NULL, 0, 0, "this is not one expression");
    for (uint32_t k = 0; k < n; k++)
        if (!names[k].name || (unsigned)names[k].type >= RVM_TYPE_COUNT || names[k].ndim < 0 || names[k].ndim > RVM_MAX_DIMS)
            return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "name %u of an expression is none, or has no type", k);
    return RVM_OK;
}

/* Types of what it may be, in order: i64, those of its places, f64. */
rvm_status rvm_assemble_expression(const char *text, const rvm_asm_name *names, uint32_t n, rvm_math math,
                                   const rvm_allocator *allocator, rvm_asm_used *used, rvm_program **out, rvm_error *err) {
    RVM__NEEDS(out);
    *out = NULL;
    RVM__NEEDS(text);
    RVM__NEEDS(used);
    if (n) RVM__NEEDS(names);
    const rvm_allocator *al = allocator ? allocator : &rvm__libc_allocator;
    writing w = {.names = names, .n = n, .used = used, .al = al, .math = math};
    used->n = 0;
    rvm_status status = check(text, names, n, err);
    if (!status) status = try_type(&w, text, RVM_I64, allocator, out, err);
    bool tried[RVM_TYPE_COUNT] = {[RVM_I64] = true};
    for (uint32_t k = 0; status == RVM_ERR_TYPE && k <= used->n; k++) {
        const rvm_type type = k < used->n ? names[used->name[k]].type : RVM_F64;
        if (tried[type]) continue;
        tried[type] = true;
        status = try_type(&w, text, type, allocator, out, err);
    }
    rvm__realloc(al, w.text, w.cap, 0);
    return status;
}
