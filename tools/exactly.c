/* exactly.c: where rounding spoils the way back, a derivative is asked for once more, with every bit restored. */
#include <string.h>

#include "tool.h"

/* On the way back, over what went forward well, a check fails since rounding has changed a value. */
static bool is_check_of_values(rvm_status st) {
    switch (st) {
    case RVM_ERR_RELEASE:
    case RVM_ERR_CONDITION:
    case RVM_ERR_LOOP:
    case RVM_ERR_ASSERT:
    case RVM_ERR_INDEX:
    case RVM_ERR_DOMAIN:
    case RVM_ERR_STACK:
    case RVM_ERR_TRAIL:
    case RVM_ERR_TRAP: return true;
    default: return false;
    }
}

static bool has_no_trail(const tool *t) {
    return t->o.trail && !strcmp(t->o.trail, "off");
}

static bool is_from_rounding(const tool *t, rvm_status st) {
    rvm_stats s;
    if (st == RVM_ERR_NOT_RESTORABLE) return true;
    if (!is_check_of_values(st) || (st == RVM_ERR_TRAIL && has_no_trail(t))) return false;
    rvm_machine_stats(t->machine, &s);
    return s.ran & RVM_RAN_SWEEP;
}

/* With --json it is a member of the object. */
static void say(const tool *t, const rvm_error *e) {
    char title[32];
    command_title(t->command, title);
    if (t->o.json) return;
    if (e->line) fprintf(stderr, "%s:%u:%u: ", e->file, e->line, e->column);
    fprintf(stderr,
            "%s%snote: %s; so this is run again with --exact, and what follows is of that run (not so with --no-exact)\n",
            e->line ? "" : title, e->line ? "" : ": ", e->message);
}

bool exactly_again(tool *t, rvm_status *st) {
    if (t->o.exact || t->o.no_exact || t->o.checkpoints || !is_from_rounding(t, *st)) return false;
    if (rvm_program_by_hand(t->program, (uint32_t)t->fn, RVM_ADJOINT)) return false; /* which may take nothing back */
    say(t, &t->err);
    t->rerun = t->err;
    t->o.exact = true;
    rvm_machine_free(t->machine);
    t->machine = NULL;
    *st = tool_machine(t, &t->machine);
    return !*st;
}

void exactly_note_nan(tool *t, bool nan) {
    if (t->rerun.code && nan) report_note_text(t, "with --exact, too, there is a nan among the results");
}
