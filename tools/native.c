/* native.c: --engine=jit: runs and derivatives as native code; auto: once that pays, which the library knows, and on a
 * device where that is faster, likewise. Where there is no native code the interpreter runs, which gives the same, and
 * --verbose says why. */
#include "tool.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void say(const tool *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const tool *t, const char *format, ...) {
    va_list list;
    char title[32];
    if (!t->o.verbose) return;
    command_title(t->command, title);
    fprintf(stderr, "%s: ", title);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
}

static void on_notice(void *userdata, const rvm_jit_notice *n) {
    char way[480];
    const int at = snprintf(way, sizeof way, n->line ? "%s, from the loop at line %u on" : "%s",
                            n->direction < 0 ? "backward" : "forward", n->line);
    if (n->lengths[0]) snprintf(way + at, sizeof way - (size_t)at, ", for %s", n->lengths);
    if (n->cache) say(userdata, "the cache: %s", n->cache);
    if (n->blocks)
        say(userdata, "%s, %s: %u of %u parallel blocks may run in threads%s%s", n->function, way, n->in_threads, n->blocks,
            n->serial[0] ? "; " : "", n->serial);
    if (n->status)
        say(userdata, "%s, %s, is interpreted: %s", n->function, way, n->reason);
    else if (n->cached)
        say(userdata, "%s, %s: %zu bytes of native code from the cache; %.2f ms", n->function, way, n->code_size,
            1e3 * n->seconds[RVM_JIT_LINK]);
    else
        say(userdata,
            "%s, %s: %zu bytes of native code; %.1f ms: lowering %.1f, optimising %.1f, emitting %.1f, linking %.1f",
            n->function, way, n->code_size,
            1e3 * (n->seconds[RVM_JIT_LOWER] + n->seconds[RVM_JIT_OPTIMISE] + n->seconds[RVM_JIT_EMIT] +
                   n->seconds[RVM_JIT_LINK]),
            1e3 * n->seconds[RVM_JIT_LOWER], 1e3 * n->seconds[RVM_JIT_OPTIMISE], 1e3 * n->seconds[RVM_JIT_EMIT],
            1e3 * n->seconds[RVM_JIT_LINK]);
    if (n->kernels || *n->on_host)
        say(userdata, "%s, %s: %u parallel blocks may run on a device%s%s", n->function, way, n->kernels,
            *n->on_host ? "; " : "", n->on_host);
    if (n->grouped) say(userdata, "%s, %s: parallel blocks in lanes: %u", n->function, way, n->grouped);
    if (n->single) say(userdata, "%s, %s: not in lanes: %u: %s", n->function, way, n->single, n->why_single);
}

rvm_status native_check_lanes(tool *t) {
    if (!t->o.lanes || strcmp(t->o.lanes, "on") == 0 || native_has_no_lanes(t)) return RVM_OK;
    return tool_fail(t, RVM_ERR_USAGE, "--lanes is on or off, not `%s`", t->o.lanes);
}

bool native_has_no_lanes(const tool *t) {
    return t->o.lanes && strcmp(t->o.lanes, "off") == 0;
}

rvm_status native_jit(tool *t, bool tiers, rvm_error *err) {
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit_totals totals;
    o.fast_math = t->o.fast_math;
    o.tiers = tiers;
    o.cache = t->o.cache && strcmp(t->o.cache, "off") == 0 ? "" : t->o.cache;
    if (t->o.threads) o.threads = (unsigned)t->o.threads;
    o.vector_math = t->o.vector_math;
    o.cpu = t->o.cpu;
    o.any_lengths = t->o.any_lengths;
    o.no_lanes = native_has_no_lanes(t);
    o.symbols = t->o.symbols;
    o.notice = on_notice;
    o.userdata = t;
    rvm_status st = rvm_jit_new(&o, &t->jit, err);
    if (st) return st;
    rvm_jit_stats(t->jit, &totals);
    const char *about = rvm_jit_about(t->jit);
    say(t, "%s, ready in %.1f ms", *about ? about : "native code for what runs long", 1e3 * totals.opening);
    return RVM_OK;
}

/* Numbers between commas, or `all`. */
static rvm_status read_devices(tool *t, int *list, int *n) {
    const char *s = t->o.device, *at = s;
    *n = 0;
    if (strcmp(s, "all") == 0) return *n = RVM_CUDA_ALL_DEVICES, RVM_OK;
    for (bool more = true; more; more = *at++ == ',') {
        char *end;
        const long k = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : -1;
        if (k < 0 || (*end && *end != ','))
            return tool_fail(t, RVM_ERR_USAGE, "--device is numbers, as 0,1, or all, not `%s`", s);
        if (*n == RVM_CUDA_MAX_DEVICES) return tool_fail(t, RVM_ERR_USAGE, "--device names more than %d", *n);
        list[(*n)++] = k < INT32_MAX ? (int)k : INT32_MAX;
        at = end;
    }
    return RVM_OK;
}

static void tell_devices(const tool *t) {
    int devices[RVM_CUDA_MAX_DEVICES];
    const int n = rvm_cuda_devices(t->cuda, devices, RVM_CUDA_MAX_DEVICES);
    for (int k = 0; k < n; k++) {
        rvm_cuda_device d;
        char which[20] = "";
        if (rvm_cuda_describe(devices[k], &d, NULL)) continue;
        if (n > 1) snprintf(which, sizeof which, "%d: ", devices[k]);
        say(t, "%s%s, compute capability %d.%d, %d multiprocessors, %.0f GiB%s", which, d.name, d.major, d.minor,
            d.multiprocessors, (double)d.memory / (1 << 30), d.slow_double ? "; doubles are slow there" : "");
    }
}

/* Where there is none blocks run on the host; a device that was asked for must be there. */
static rvm_status open_device(tool *t) {
    rvm_cuda_options o = rvm_cuda_options_default();
    int devices[RVM_CUDA_MAX_DEVICES];
    rvm_error why;
    o.least = 0;
    if (option_given(&t->o, device) && read_devices(t, devices, &o.ndevices)) return t->err.code;
    if (o.ndevices) o.devices = devices;
    const rvm_status st = rvm_cuda_new(&o, &t->cuda, &why);
    if (!st)
        tell_devices(t);
    else if (st == RVM_ERR_USAGE || option_given(&t->o, device)) {
        t->err = why;
        return st;
    } else
        say(t, "no device: %s", why.message);
    return RVM_OK;
}

/* Blocks go to a device only where that is faster; there need be none. */
static void find_device(tool *t) {
    rvm_cuda_options o = rvm_cuda_options_default();
    o.automatic = true;
    rvm_cuda_new(&o, &t->cuda, NULL);
}

static void tell_blocks(const tool *t) {
    size_t n = rvm_cuda_blocks(t->cuda, NULL, 0);
    rvm_cuda_block *b = t->o.verbose ? calloc(n + 1, sizeof *b) : NULL;
    n = rvm_cuda_blocks(t->cuda, b, n);
    for (size_t k = 0; b && k < n; k++)
        say(t, "%s:%u: %s: %" PRIu64 " times on a device, %" PRIu64 " launches, %.3f ms", *b[k].file ? b[k].file : "?",
            b[k].line, b[k].function, b[k].runs, b[k].launches, 1e3 * b[k].seconds);
    free(b);
}

static void tell_device(const tool *t) {
    rvm_cuda_totals s;
    if (!t->cuda) return;
    rvm_cuda_stats(t->cuda, &s);
    if (!rvm_cuda_devices(t->cuda, NULL, 0)) {
        if (s.on_host) say(t, "no device was opened: %s", s.why);
        return;
    }
    say(t,
        "device: %" PRIu64 " parallel blocks, %" PRIu64 " of them a CTA for each instance, in %" PRIu64
        " launches, %.3f ms; %.1f ms loading; %.3f MB to it, %.3f MB from it",
        s.blocks, s.nested, s.launches, 1e3 * s.kernels, 1e3 * s.loading, 1e-6 * (double)s.uploaded,
        1e-6 * (double)s.downloaded);
    if (rvm_cuda_devices(t->cuda, NULL, 0) > 1)
        say(t, "%" PRIu64 " of these on several devices, %.3f MB from one to another%s%s", s.split, 1e-6 * (double)s.across,
            *s.why_one ? "; the last on one: " : "", s.why_one);
    tell_blocks(t);
    if (s.on_host) say(t, "%" PRIu64 " parallel blocks on the host, the last: %s", s.on_host, s.why);
    if (s.why_none && option_given(&t->o, engine)) say(t, "no parallel block of a run may be a kernel: %s", s.why_none);
}

/* For the interpreter, too: a name that is none is one in any case. */
static rvm_status check_processor(tool *t) {
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit *j = NULL;
    rvm_error why;
    o.cpu = t->o.cpu;
    o.cache = "";
    const bool wrong = o.cpu && rvm_jit_new(&o, &j, &why) == RVM_ERR_USAGE;
    rvm_jit_free(j);
    if (wrong) t->err = why;
    return wrong ? RVM_ERR_USAGE : RVM_OK;
}

rvm_status native_open(tool *t) {
    const char *engine = t->o.engine ? t->o.engine : "auto";
    const bool tiers = strcmp(engine, "auto") == 0;
    rvm_error why = {0};
    if (t->o.threads > RVM_JIT_MAX_THREADS)
        return tool_fail(t, RVM_ERR_USAGE, "--threads is at most %u", RVM_JIT_MAX_THREADS);
    const rvm_status lanes = native_check_lanes(t);
    if (lanes) return lanes;
    if (strcmp(engine, "interp") == 0) return check_processor(t);
    if (t->jit) return RVM_OK;
    const bool cuda = strcmp(engine, "cuda") == 0;
    if (!tiers && !cuda && strcmp(engine, "jit") != 0)
        return tool_fail(t, RVM_ERR_USAGE, "--engine is interp, jit, cuda or auto, not `%s`", engine);
    if (option_given(&t->o, device) && !cuda) return tool_fail(t, RVM_ERR_USAGE, "--device wants --engine=cuda");
    const rvm_status st = native_jit(t, tiers, &why);
    if (!st && cuda && open_device(t)) return t->err.code;
    if (!st && tiers && t->o.unchecked) find_device(t);
    if (st == RVM_ERR_USAGE) t->err = why;
    if (st) say(t, "interpreted: %s", why.message);
    return st == RVM_ERR_USAGE ? st : RVM_OK;
}

rvm_status native_attach(tool *t, rvm_machine *m) {
    rvm_status st = t->jit ? rvm_jit_attach(t->jit, m, &t->err) : RVM_OK;
    if (!st && t->cuda) st = rvm_cuda_attach(t->cuda, m, &t->err);
    return st;
}

bool native_close(tool *t) {
    rvm_program_free(t->derived_program);
    tell_device(t);
    rvm_cuda_free(t->cuda);
    if (t->jit_is_lent) return true;
    if (t->jit && rvm_jit_busy(t->jit)) return false;
    rvm_jit_free(t->jit);
    return true;
}

void native_tell(const tool *t) {
    rvm_error why;
    if (t->jit && t->o.undo)
        say(t, "interpreted: native code does not go forward again after a sweep (--undo)");
    else if (t->jit && rvm_jit_reason(t->machine, &why))
        say(t, "interpreted: %s", why.message);
}
