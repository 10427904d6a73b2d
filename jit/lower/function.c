/* function.c: a specialisation of a function from its beginning to its end. */
#include "emit.h"
#include "blocks.h"
#include "walk.h"
#include "support.h"

void rvm__emit_function(rvm__unit *u, const rvm__specialisation *v) {
    rvm__emit e = {.u = u,
                   .k = u->k,
                   .f = &u->p->functions[v->fn],
                   .code = &u->m->codes[v->fn],
                   .fn = v->fn,
                   .dir = v->dir,
                   .restoring = v->restoring,
                   .inside = v->inside,
                   .apart = v->apart,
                   .whole = v->whole,
                   .discards = v->discards,
                   .fresh = v->fresh,
                   .block.chunk = v->block,
                   .at = v->at,
                   .vectorised = v->vectorised,
                   .nested = v->nested,
                   .guarded = v->guarded,
                   .function = v->function};
    if (!rvm__frame_begin(&e)) return;
    if (e.vectorised) rvm__find_conflicts(&e, v->conflicts);
    (e.block.chunk ? rvm__begin_chunk : rvm__take_parameters)(&e);
    rvm__share_begin(&e);
    LLVMBasicBlockRef first = rvm__block(&e, "first");
    LLVMBuildBr(u->k->b, first);
    if (v->block) {
        if (!(e.control.context = rvm__context_in(&e, NULL, 0, PASS_WHOLE, v->dir))) return;
        rvm__at(&e, first);
        rvm__enter_chunk(&e);
        rvm__walk_pending(&e);
    } else if (v->at) {
        rvm__at(&e, first);
        rvm__osr_entry(&e);
        rvm__walk_pending(&e);
    } else
        rvm__walk_from(&e, first, v->dir > 0 ? 1 : e.f->ncode - 2, v->dir);
    if (!u->status) { /* else blocks were left open, and the module is thrown away */
        rvm__frame_end(&e);
        rvm__settle_function(&e);
    }
    rvm__realloc(u->k->al, e.frame.sites, e.frame.cap_sites * sizeof *e.frame.sites, 0);
    rvm__realloc(u->k->al, e.frame.joins, e.frame.cap_joins * sizeof *e.frame.joins, 0);
}
