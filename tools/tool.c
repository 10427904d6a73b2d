#include "tool.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

rvm_status tool_fail(tool *t, rvm_status code, const char *format, ...) {
    va_list list;
    t->err = (rvm_error){.code = code};
    va_start(list, format);
    vsnprintf(t->err.message, sizeof t->err.message, format, list);
    va_end(list);
    return code;
}

rvm_status tool_fail_in(tool *t, rvm_status st, uint32_t fn) {
    const bool about = st && st != RVM_ERR_USAGE && st != RVM_ERR_MEMORY;
    const char *file;
    if (!about || t->err.file[0] || t->err.line) return st;
    rvm_program_position(t->program, fn, 0, &file, &t->err.line, &t->err.column);
    snprintf(t->err.file, sizeof t->err.file, "%s", file ? file : "");
    return st;
}

rvm_status tool_math(tool *t, rvm_math *out) {
    for (rvm_math m = RVM_MATH_AUTO; m <= RVM_MATH_SLEEF; m++)
        if (strcmp(t->o.math ? t->o.math : rvm_math_name(RVM_MATH_AUTO), rvm_math_name(m)) == 0)
            return rvm_math_choose(m, out, &t->err);
    return tool_fail(t, RVM_ERR_USAGE, "--math takes auto, libm or sleef, not `%s`", t->o.math);
}

bool tool_runs_exactly(const tool *t) {
    return t->o.exact || t->o.save_record || t->o.record;
}

rvm_status tool_asm_options(tool *t, rvm_asm_options *o) {
    rvm_math math;
    const rvm_status st = tool_math(t, &math);
    if (st) return st;
    *o = (rvm_asm_options){.math = math, .real = RVM_F64, .include_path = t->o.include.item, .no_files = t->o.no_include};
    o->exact = tool_runs_exactly(t);
    if (!t->o.real || strcmp(t->o.real, rvm_type_name(RVM_F64)) == 0) return RVM_OK;
    for (rvm_type r = RVM_F64; r < RVM_TYPE_COUNT; r++) {
        o->real = r;
        if (strcmp(t->o.real, rvm_type_name(r)) == 0) return RVM_OK;
    }
    return tool_fail(t, RVM_ERR_USAGE, "--real takes f64, f32 or fix, not `%s`", t->o.real);
}

/* As options.checkpoints: S, auto, or by itself where the trail would pass its limit. */
static rvm_status read_checkpoints(tool *t, uint32_t *to) {
    const char *text = t->o.checkpoints ? t->o.checkpoints : t->o.checkpoint_dir ? "auto" : NULL;
    const char *against = t->o.exact ? "--exact" : t->o.undo ? "--undo" : t->o.profile ? "--profile" : NULL;
    char *end = NULL;
    *to = 0;
    if (!text) return RVM_OK;
    const unsigned long long n = strtoull(text, &end, 10);
    const bool is_number = *text >= '0' && *text <= '9' && !*end;
    if (strcmp(text, "auto") != 0 && (!is_number || !n || n > INT32_MAX))
        return tool_fail(t, RVM_ERR_USAGE, "--checkpoints S keeps S states of a loop, from 1 to %d, or auto, not `%s`",
                         INT32_MAX, text);
    if (against)
        return tool_fail(t, RVM_ERR_USAGE, "--checkpoint%s does not go with %s", t->o.checkpoints ? "s" : "-dir", against);
    *to = is_number ? (uint32_t)n : RVM_CHECKPOINTS_AUTO;
    return RVM_OK;
}

rvm_status tool_options(tool *t, rvm_options *o) {
    *o = rvm_options_default();
    if (t->o.depth > UINT32_MAX) return tool_fail(t, RVM_ERR_USAGE, "--depth is at most %u", UINT32_MAX);
    if (option_given(&t->o, depth) && !t->o.depth)
        return tool_fail(t, RVM_ERR_USAGE, "--depth 0 allows no call at all: the function itself takes 1");
    rvm_status st = tool_math(t, &o->math);
    if (!st) st = read_checkpoints(t, &o->checkpoints);
    if (st) return st;
    o->checkpoint_dir = t->o.checkpoint_dir;
    o->unchecked = t->o.unchecked;
    o->trust = t->o.trust;
    o->exact = tool_runs_exactly(t);
    o->profile = t->o.profile || t->command == COMMAND_PROFILE || t->command == COMMAND_COST || t->command == COMMAND_QUEUE;
    o->activity = t->o.activity;
    if (option_given(&t->o, tol)) o->tolerance = t->o.tol;
    if (option_given(&t->o, depth)) o->depth = (uint32_t)t->o.depth;
    o->fuel = t->o.fuel;
    o->memory = t->o.memory;
    o->trail_limit = t->o.trail_limit;
    o->keep_shadows = t->o.undo || (t->command == COMMAND_DEBUG && t->o.of);
    const char *trail = t->o.trail ? t->o.trail : "keep";
    if (strcmp(trail, "keep") != 0 && strcmp(trail, "off") != 0)
        return tool_fail(t, RVM_ERR_USAGE, "--trail is keep or off, not `%s`", trail);
    o->trail = *trail == 'o' ? RVM_TRAIL_OFF : RVM_TRAIL_KEEP;
    if (t->command == COMMAND_RUN && !t->progress.poll) o->print = t->o.json ? printed_beside : printed;
    o->progress = progress_callback;
    o->userdata = &t->progress;
    return RVM_OK;
}
