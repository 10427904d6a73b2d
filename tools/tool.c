#include "tool.h"

#include <stdarg.h>
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

rvm_status tool_asm_options(tool *t, rvm_asm_options *o) {
    *o = (rvm_asm_options){.real = RVM_F64, .include_path = t->o.include.item, .no_files = t->o.no_include};
    if (!t->o.real || strcmp(t->o.real, rvm_type_name(RVM_F64)) == 0) return RVM_OK;
    for (rvm_type r = RVM_F64; r < RVM_TYPE_COUNT; r++) {
        o->real = r;
        if (strcmp(t->o.real, rvm_type_name(r)) == 0) return RVM_OK;
    }
    return tool_fail(t, RVM_ERR_USAGE, "--real takes f64, f32 or fix, not `%s`", t->o.real);
}

static rvm_status check_checkpoints(tool *t) {
    const char *against = t->o.exact ? "--exact" : t->o.undo ? "--undo" : t->o.profile ? "--profile" : NULL;
    if (!option_given(&t->o, checkpoints)) return RVM_OK;
    if (!t->o.checkpoints || t->o.checkpoints > INT32_MAX)
        return tool_fail(t, RVM_ERR_USAGE, "--checkpoints S keeps S states of a loop: from 1 to %d", INT32_MAX);
    if (against) return tool_fail(t, RVM_ERR_USAGE, "--checkpoints does not go with %s", against);
    return RVM_OK;
}

rvm_status tool_options(tool *t, rvm_options *o) {
    *o = rvm_options_default();
    if (t->o.depth > UINT32_MAX) return tool_fail(t, RVM_ERR_USAGE, "--depth is at most %u", UINT32_MAX);
    if (option_given(&t->o, depth) && !t->o.depth)
        return tool_fail(t, RVM_ERR_USAGE, "--depth 0 allows no call at all: the function itself takes 1");
    rvm_status st = check_checkpoints(t);
    if (st) return st;
    o->unchecked = t->o.unchecked;
    o->trust = t->o.trust;
    o->exact = t->o.exact || t->o.save_record || t->o.record;
    o->profile = t->o.profile || t->command == COMMAND_PROFILE || t->command == COMMAND_COST || t->command == COMMAND_QUEUE;
    if (option_given(&t->o, tol)) o->tolerance = t->o.tol;
    if (option_given(&t->o, depth)) o->depth = (uint32_t)t->o.depth;
    o->fuel = t->o.fuel;
    o->memory = t->o.memory;
    o->trail_limit = t->o.trail_limit;
    o->checkpoints = (uint32_t)t->o.checkpoints;
    o->keep_shadows = t->o.undo;
    const char *trail = t->o.trail ? t->o.trail : "keep";
    if (strcmp(trail, "keep") != 0 && strcmp(trail, "off") != 0)
        return tool_fail(t, RVM_ERR_USAGE, "--trail is keep or off, not `%s`", trail);
    o->trail = *trail == 'o' ? RVM_TRAIL_OFF : RVM_TRAIL_KEEP;
    o->progress = progress_callback;
    o->userdata = &t->progress;
    return RVM_OK;
}
