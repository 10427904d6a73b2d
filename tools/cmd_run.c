/* cmd_run.c: rvm run. After a run-time error it goes back to where it started and says whether that gave the inputs back. */
#include "input.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

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

static uint64_t instructions(const tool *t) {
    rvm_stats s;
    rvm_machine_stats(t->machine, &s);
    return s.forward + s.backward;
}

/* Back to where it started. Fuel is per run, and the way back may cost as much as the way there: it is granted again as long
 * as that gets on, and is no longer by far: unchecked, it need not end. */
static rvm_status run_back(tool *t, rvm_error *e) {
    enum { LONGER = 4, FEW = 100000000 };
    rvm_status (*const back)(rvm_machine *, rvm_error *) = t->o.backward ? rvm_machine_forward : rvm_machine_backward;
    const uint64_t there = instructions(t);
    uint64_t before, now = there;
    rvm_status st;
    t->progress.most = there > UINT64_MAX / LONGER - FEW ? UINT64_MAX : LONGER * there + FEW;
    do {
        before = now;
        st = back(t->machine, e);
        now = instructions(t);
    } while (st == RVM_ERR_FUEL && now > before && (now - there) / LONGER <= there);
    t->progress.most = 0;
    return st;
}

/* Goes back from where the run failed and compares with what it was given. */
static void restore(tool *t, const values *before) {
    rvm_error e;
    if (!rvm_machine_frames(t->machine)) return; /* it had not begun */
    progress_begin(&t->progress, t->machine);
    t->progress.returns = true;
    rvm_status st = run_back(t, &e);
    t->progress.returns = false;
    progress_end(&t->progress);
    rvm_machine_unbind(t->machine);
    if (t->progress.gave_up) {
        say(t, RESTORED_NO, "running back does not restore the inputs: it goes on for longer than the run by far%s%s", "",
            "");
        return;
    }
    if (st == RVM_ERR_CANCELLED) return; /* as a server ends a run: nobody knows */
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
    if (s.stack_left && !t->o.save_record)
        fprintf(stderr, "rvm run: note: %u value%s left on the stack %s lost: a run back from these results will miss %s\n",
                s.stack_left, s.stack_left == 1 ? "" : "s", s.stack_left == 1 ? "is" : "are",
                s.stack_left == 1 ? "it" : "them");
}

/* Of a run back from results that may be a run's own: nobody says what went into that, so that only this can be seen. */
static void note_growth(tool *t, const values *end) {
    char text[512];
    growth_from_end(t, end, text, sizeof text);
    if (*text) report_note_text(t, text);
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

/* ---- --save-record, --record ---- */

static rvm_status check_options(tool *t) {
    if (t->o.record && !t->o.backward)
        return tool_fail(t, RVM_ERR_USAGE, "--record is for a run back: give --backward, and the outputs");
    if (t->o.save_record && t->o.backward)
        return tool_fail(t, RVM_ERR_USAGE, "--save-record is of a run forward, not of one with --backward");
    if ((t->o.save_record || t->o.record) && t->o.trail && strcmp(t->o.trail, "off") == 0)
        return tool_fail(t, RVM_ERR_USAGE, "a record has the trail in it: not with --trail off");
    return RVM_OK;
}

static rvm_status save_record(tool *t) {
    void *bytes;
    size_t size;
    rvm_status st = rvm_machine_record_save(t->machine, &bytes, &size, &t->err);
    if (!st) st = files_write(t, t->o.save_record, bytes, size);
    rvm_machine_record_free(t->machine, bytes, size);
    return st;
}

/* All that can be; the first failure. */
static rvm_status save(tool *t) {
    const rvm_status st = t->o.save_record ? save_record(t) : RVM_OK;
    const rvm_error first = t->err;
    const rvm_status others = output_save(t, &t->v);
    if (st) t->err = first;
    return st ? st : others;
}

static rvm_status load_record(tool *t) {
    input in;
    char *bytes = NULL;
    size_t size;
    rvm_status st = reading_open(&t->reading, &in, t->o.record, &t->err);
    if (!st) st = input_whole(&in, t->o.memory ? t->o.memory : PTRDIFF_MAX / 4, &bytes, &size, &t->err);
    input_close(&in);
    if (st) return st;
    st = rvm_machine_record_load(t->machine, bytes, size, &t->err);
    if (st) snprintf(t->err.file, sizeof t->err.file, "%s", in.name), t->err.line = t->err.column = 0;
    free(bytes);
    return st;
}

static rvm_status run(tool *t) {
    rvm_status st = rvm_machine_bind(t->machine, t->fn, t->v.arg, t->v.n, RVM_PRIMAL, t->o.backward, &t->err);
    if (!st && t->o.record && (st = load_record(t))) {
        rvm_machine_unbind(t->machine); /* it has not begun */
        return st;
    }
    if (!st) st = t->o.backward ? rvm_machine_backward(t->machine, &t->err) : rvm_machine_forward(t->machine, &t->err);
    return st;
}

rvm_status command_RUN(tool *t) {
    values before = {0};
    if (t->o.dump) return native_dump(t);
    rvm_status st = check_options(t);
    if (!st) st = tool_prepare(t);
    if (!st) st = only_check(t, NULL, NULL, NULL);
    if (!st) st = values_copy(&before, &t->v, &t->err);
    if (st) goto done;
    progress_begin(&t->progress, t->machine);
    if (!t->o.backward && !t->o.save_record) values_begin_fresh(&t->v); /* a record tells 0 from -0 */
    st = run(t);
    progress_end(&t->progress);
    if (st) {
        if (st != RVM_ERR_NOT_RESTORABLE) restore(t, &before); /* that was compared with already */
        goto done;
    }
    values_end_fresh(&t->v);
    if (t->o.backward && !t->o.record) note_growth(t, &before);
    st = save(t);
    print(t, st);
done:
    values_free(&before);
    return st;
}
