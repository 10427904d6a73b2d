/* prepare.c: all that is there before a run: the program, the values, a machine. */
#include "tool.h"

rvm_status tool_machine(tool *t, rvm_machine **out) {
    rvm_options o;
    rvm_status st = tool_options(t, &o);
    if (!st) st = rvm_machine_new(t->program, &o, out, &t->err);
    return st ? st : native_attach(t, *out);
}

rvm_status tool_prepare(tool *t) {
    int first;
    rvm_status st = tool_choose(t, &first);
    if (!st) st = values_read(&t->v, &t->reading, t->fn, t->words + first, t->nwords - first, &t->err);
    if (!st) st = output_check(t);
    if (!st) st = native_open(t);
    return st ? st : tool_machine(t, &t->machine);
}
