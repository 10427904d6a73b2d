/* exactly.c: where rounding spoils the way back, a derivative is asked for once more, with every bit restored. */
#include "tool.h"

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
    if (*st != RVM_ERR_NOT_RESTORABLE || t->o.exact || t->o.no_exact) return false;
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
