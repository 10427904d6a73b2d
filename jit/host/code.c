/* code.c: code of a record: the compiler and the cache that it comes from, loading it, and what is told of it. */
#include "records.h"
#include "cache_key.h"
#include "program.h"
#include "shaped.h"
#include "support.h"

#include <fenv.h>
#include <string.h>
#include <time.h>

/* ---- opening ---- */

double rvm__seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

rvm_status rvm__open_compiler(rvm_jit *j, rvm_error *err) {
    if (j->compiler) return RVM_OK;
    const double begin = rvm__seconds();
    const rvm__compiler_options c = {.cpu = j->o.cpu,
                                     .level = j->o.level,
                                     .symbols = j->o.symbols,
                                     .libdevice = j->libdevice,
                                     .native = rvm__native_symbols,
                                     .nnative = rvm__native_nsymbols,
                                     .al = &j->al};
    const char *about;
    fenv_t environment;
    feholdexcept(&environment);
    rvm_status status = j->module ? RVM_OK : rvm__module_open(j->path, &j->module, err);
    if (!status) status = j->module->open(&c, &j->compiler, &about, err);
    fesetenv(&environment);
    pthread_mutex_lock(&j->lock);
    j->totals.opening += rvm__seconds() - begin;
    if (!status && !j->about[0]) { /* else the same text, which somebody may be reading */
        snprintf(j->about, sizeof j->about, "%s", about);
        if (j->cache) rvm__cache_put(j->cache, &j->key, &(rvm__part){j->about, strlen(j->about) + 1}, 1, &j->trouble);
    }
    pthread_mutex_unlock(&j->lock);
    return status;
}

void rvm__open_cache(rvm_jit *j) {
    if (j->has_cache) return;
    j->has_cache = true;
    if (j->o.cache && !*j->o.cache) return;
    if (!rvm__cache_key_begin(&j->key, j->path, j->libdevice, j->o.cpu, j->o.level)) return;
    rvm__cache_open(j->o.cache, j->o.cache_size, &j->al, &j->cache, &j->trouble);
}

/* ---- notices ---- */

/* Of the loop at which it is entered, or 0. */
static uint32_t line_of(const rvm__lowering *what) {
    const rvm_function *f = &what->p->functions[what->fn];
    const int dir = __builtin_popcount(what->turns) & 1 ? -what->direction : what->direction;
    const char *file;
    uint32_t line = 0, column;
    if (!what->at) return 0;
    const uint32_t head = rvm__loop_head(f, what->at, dir), end = f->code[head].target;
    rvm_program_position(what->p, what->fn, head < end ? head : end, &file, &line, &column);
    return line;
}

/* "n=3, d=2": those that the code is for. */
static void name_lengths(const rvm__lowering *what, char *to, size_t size) {
    const rvm_function *f = &what->p->functions[what->fn];
    uint16_t registers[RVM__MOST_LENGTHS];
    size_t at = 0;
    const uint32_t n = rvm__length_registers(f, registers, RVM__MOST_LENGTHS);
    *to = 0;
    for (uint32_t k = 0; k < n && at < size; k++) {
        const char *name = rvm__symbol_at(f, false, registers[k], 0);
        if (!what->lengths.is[k]) continue;
        at += (size_t)snprintf(to + at, size - at, "%s%s=%u", at ? ", " : "", name ? name : "?", what->lengths.is[k]);
    }
}

void rvm__tell(rvm_jit *j, const rvm__lowering *what, const rvm__compiled *code, const rvm_error *why) {
    char lengths[400];
    name_lengths(what, lengths, sizeof lengths);
    rvm_jit_notice n = {.function = what->p->functions[what->fn].name,
                        .direction = what->direction,
                        .line = line_of(what),
                        .lengths = lengths,
                        .status = why->code,
                        .reason = why->message,
                        .cached = code->cached,
                        .cache = j->trouble.code ? j->trouble.message : NULL,
                        .code_size = code->size,
                        .stack_size = code->found.stack,
                        .blocks = code->found.blocks,
                        .in_threads = code->found.in_threads,
                        .serial = code->found.serial,
                        .grouped = code->found.grouped,
                        .single = code->found.single,
                        .why_single = code->found.why_single,
                        .kernels = code->found.kernels,
                        .on_host = code->found.on_host};
    memcpy(n.seconds, code->seconds, sizeof n.seconds);
    if (j->o.notice) j->o.notice(j->o.userdata, &n);
    j->trouble.code = RVM_OK;
}

/* ---- objects ---- */

enum { FOUND, OBJECT, PARTS }; /* of an entry of the cache; the object is the host's */

static void count(rvm_jit *j, const rvm__record *r) {
    *(r->why.code ? &j->totals.refused : r->code.cached ? &j->totals.cached : &j->totals.compiled) += 1;
    for (int k = 0; k < RVM_JIT_PHASES && !r->why.code; k++) j->totals.seconds[k] += r->code.seconds[k];
    j->totals.code_size += r->code.size;
}

/* The object is code of r from now on. */
static rvm_status load(const rvm_jit *j, rvm__record *r, const void *object, size_t size, rvm_error *err) {
    const double begin = rvm__seconds();
    rvm_status status = rvm__object_load(object, size, &j->al, &r->loaded, err);
    if (!status && r->loaded.need_size != sizeof r->code.need) {
        rvm__object_unload(&r->loaded);
        status =
            rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "native code cannot be loaded: it does not say what it needs");
    }
    if (status) return status;
    memcpy(&r->code.entry, &r->loaded.entry, sizeof r->code.entry);
    memcpy(&r->code.need, r->loaded.need, sizeof r->code.need);
    r->code.size = r->loaded.code_size;
    r->code.seconds[RVM_JIT_LINK] = rvm__seconds() - begin;
    return RVM_OK;
}

/* Whether the cache has it. What it has, but cannot be loaded here, is removed. */
static bool find_cached(rvm_jit *j, const rvm__bytes *key, rvm__record *r) {
    rvm__cached x;
    const double begin = rvm__seconds();
    if (rvm__cache_get(j->cache, key, &x, &j->trouble) || !x.file) return false;
    rvm_status status = RVM_ERR_FORMAT;
    if (x.nparts > OBJECT && x.part[FOUND].n == sizeof r->code.found) {
        memcpy(&r->code.found, x.part[FOUND].p, sizeof r->code.found);
        status = load(j, r, x.part[OBJECT].p, x.part[OBJECT].n, &j->trouble);
    }
    rvm__cached_free(j->cache, &x);
    if (status && status != RVM_ERR_MEMORY) rvm__cache_remove(j->cache, key);
    r->code.need.stack = r->code.found.stack;
    r->code.need.fresh = r->what.fresh;
    r->code.cached = !status;
    r->code.seconds[RVM_JIT_LINK] = rvm__seconds() - begin;
    return !status;
}

static void keep(rvm_jit *j, const rvm__bytes *key, const rvm__object *object) {
    const rvm__part part[PARTS] = {
        [FOUND] = {&object->found, sizeof object->found}, [OBJECT] = {object->bytes, object->size}};
    rvm__cache_put(j->cache, key, part, PARTS, &j->trouble);
}

/* Code of r, and kept; what is not to be loaded here, or cannot be, LLVM links itself. */
static rvm_status take_object(rvm_jit *j, rvm__record *r, const rvm__object *object, const rvm__bytes *key, rvm_error *err) {
    rvm_status status = RVM_OK;
    memcpy(r->code.seconds, object->seconds, sizeof r->code.seconds);
    if (j->o.symbols || load(j, r, object->bytes, object->size, NULL)) {
        status = j->module->link(j->compiler, object, &r->code, err);
        for (int k = 0; k < RVM_JIT_LINK; k++) r->code.seconds[k] = object->seconds[k];
    } else if (key)
        keep(j, key, object);
    r->code.found = object->found;
    r->code.need.stack = object->found.stack;
    r->code.need.fresh = r->what.fresh;
    return status;
}

void rvm__add_record(rvm_jit *j, rvm__record *r) {
    if (r->why.code) r->code = (rvm__compiled){0};
    r->what.p = NULL;
    r->next = j->records;
    j->records = r;
    if (r->why.code != RVM_ERR_MEMORY) count(j, r);
}

void rvm__record_made(rvm_jit *j, rvm__record *r, rvm__object *object, const rvm__bytes *key, const rvm_error *why) {
    r->why = *why;
    if (!r->why.code) r->why.code = take_object(j, r, object, key, &r->why);
    rvm__realloc(&j->al, object->bytes, object->size, 0);
    rvm__add_record(j, r);
}

/* LLVM computes constants, which must not count as the program's exceptions. */
bool rvm__look_in_cache(rvm_jit *j, const rvm__lowering *what, rvm__record *r, rvm__bytes *key) {
    fenv_t environment;
    *key = (rvm__bytes){.al = &j->al};
    rvm__open_cache(j);
    if (!j->cache || j->o.symbols) return false;
    feholdexcept(&environment);
    rvm__bytes_add(key, j->key.p, j->key.n);
    rvm__cache_key_add(key, what);
    if (key->failed) rvm__bytes_free(key), *key = (rvm__bytes){.al = &j->al};
    const bool found = key->n && find_cached(j, key, r);
    fesetenv(&environment);
    return found;
}
