/* checkpoints.c: --checkpoints: which loops it is not for; that a gradient went by snapshots without being told to. */
#include "tool.h"

enum { SHOWN = 20 };

static void note(tool *t, const rvm_checkpointed *loop) {
    rvm_error e = {.line = loop->line, .column = loop->column};
    snprintf(e.file, sizeof e.file, "%s", loop->file ? loop->file : "");
    snprintf(e.message, sizeof e.message, "the loop at %s:%u keeps the trail of its trips: %s", *e.file ? e.file : "?",
             loop->line, loop->why);
    report_note(t, &e);
}

void checkpoints_note(tool *t) {
    rvm_checkpointed loops[SHOWN];
    uint32_t n = 0, taken = 0;
    if ((!t->o.checkpoints && !t->o.checkpoint_dir) || rvm_program_checkpointed(t->program, t->fn, loops, SHOWN, &n, NULL))
        return;
    for (uint32_t k = 0; k < n && k < SHOWN; k++) {
        taken += !loops[k].why;
        if (loops[k].why) note(t, &loops[k]);
    }
    if (!taken && n <= SHOWN) report_note_text(t, "there is no loop that --checkpoints would run again");
}

void checkpoints_tell(tool *t) {
    rvm_stats s;
    rvm_machine_stats(t->machine, &s);
    if (!s.marched || t->o.checkpoints || t->o.checkpoint_dir) return;
    report_note_text(t, "the trail would pass --trail-limit: loops ran again from snapshots, as with --checkpoints auto");
}
