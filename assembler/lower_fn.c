/* lower_fn.c: the code of a function, whose parameters are declared. */
#include "asm.h"
#include "builder.h"

void rvm__lower_function(assembler *a, func *fn) {
    gen state, *g = &state;
    rvm__gen_start(g, a, fn);
    a->lenient = fn->broken;
    for (const written *w = fn->written; w; w = w->next) w->name->writer = fn;
    g->vars = fn->scope;
    for (var *v = g->vars; v; v = v->below)
        if (!v->again) v->name->var = v;
    rvm__emit(g, RVM_OP_start, -1, 0, NULL, 0, fn->at);
    const var *mark = g->vars;
    rvm__lower_statements(g, fn->body);
    rvm__lower_scope_end(g, mark, true);
    rvm__emit(g, RVM_OP_halt, -1, 0, NULL, 0, fn->end);
    rvm__resolve_jumps(g);
    rvm__lower_scope_end(g, NULL, false);
    if (!g->failed) rvm__function_finish(g->f);
    rvm__gen_free(g);
}
