/* cmd_run.c: rvm run. After a run-time error it goes back to where it started and says whether that gave the inputs back. */
#include "tool.h"

rvm_status command_RVM(tool *t) { /* reached with a word that is no command */
    const char *near;
    command_find("rvm", t->words[0], &near);
    return tool_fail(t, RVM_ERR_USAGE, "there is no command `%s`%s%s%s; see rvm --help", t->words[0],
                     near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

static void say(tool *t, enum restored r, const char *format, const char *name, const char *why) {
    t->restored = r;
    snprintf(t->restored_text, sizeof t->restored_text, format, name, why);
}

/* Back to where it started. Fuel is per run, and the way back may cost as much as the way there: it is granted again as long
 * as that gets on. */
static rvm_status run_back(tool *t, rvm_error *e) {
    rvm_status (*const back)(rvm_machine *, rvm_error *) = t->o.backward ? rvm_machine_forward : rvm_machine_backward;
    rvm_stats before, after;
    rvm_status st;
    do {
        rvm_machine_stats(t->machine, &before);
        st = back(t->machine, e);
        rvm_machine_stats(t->machine, &after);
    } while (st == RVM_ERR_FUEL && after.forward + after.backward > before.forward + before.backward);
    return st;
}

/* Goes back from where the run failed and compares with what it was given. */
static void restore(tool *t, const values *before) {
    rvm_error e;
    if (!rvm_machine_frames(t->machine)) return; /* it had not begun */
    progress_begin(&t->progress, t->machine);
    rvm_status st = run_back(t, &e);
    progress_end(&t->progress);
    rvm_machine_unbind(t->machine);
    if (st) {
        say(t, RESTORED_NO, "running back does not restore the inputs: %s%s", e.message, "");
        return;
    }
    difference d = values_compare(before, &t->v, rvm_options_default().tolerance);
    char name[96];
    if (!d.same) values_element_name(&t->v, d.param, d.element, name, sizeof name);
    if (d.same)
        say(t, RESTORED_YES, "ran back to the start: the inputs are restored%s%s", "", "");
    else
        say(t, RESTORED_NO, "ran back to the start, but `%s` differs from what was given%s", name, "");
}

/* What is not taken back from the stack is lost with the run, and cannot be run backward from. */
static void note_stack(const tool *t) {
    rvm_stats s;
    rvm_machine_stats(t->machine, &s);
    if (s.stack_left)
        fprintf(stderr, "rvm run: note: %u value%s left on the stack %s lost: a run back from these results will miss %s\n",
                s.stack_left, s.stack_left == 1 ? "" : "s", s.stack_left == 1 ? "is" : "are",
                s.stack_left == 1 ? "it" : "them");
}

/* saved: what became of --save; the results are shown whatever it was. */
static void print(tool *t, rvm_status saved) {
    json j;
    if (!t->o.json) {
        output_values(t, &t->v);
        output_stats(t);
        note_stack(t);
        return;
    }
    tool_json_begin(&j, t, saved);
    output_json_values(&j, t, &t->v);
    output_json_stats(&j, t);
    tool_json_end(&j);
}

rvm_status command_RUN(tool *t) {
    values before = {0};
    if (t->o.dump) return native_dump(t);
    rvm_status st = tool_prepare(t);
    if (!st) st = values_copy(&before, &t->v, &t->err);
    if (st) goto done;
    progress_begin(&t->progress, t->machine);
    st = t->o.backward ? rvm_uncall(t->machine, t->fn, t->v.arg, t->v.n, &t->err)
                       : rvm_call(t->machine, t->fn, t->v.arg, t->v.n, &t->err);
    progress_end(&t->progress);
    if (st) {
        restore(t, &before);
        goto done;
    }
    st = output_save(t, &t->v);
    print(t, st);
done:
    values_free(&before);
    return st;
}
