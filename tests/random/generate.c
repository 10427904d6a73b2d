/* generate.c: see generate.h. Statements are a table of functions that may decline; a block tries until its budget is spent.
 */
#include "generator.h"

static statement *const simple[] = {update,     update,    update,    update,    update,  in_place, two_places,
                                    two_places, call,      call,      call,      local,   local,    accumulate,
                                    accumulate, overwrite, overwrite, overwrite, discard, garbage,  local_value};
static statement *const structured[] = {
    branch, forgetful_branch, flagged_branch, counted,        conditional_loop, forgetful_loop, region,    region,
    region, stacked,          there_and_back, there_and_back, unchecked,        assertion,      instances, instances};

void block(generator *g, int statements) {
    int count = 1 + (int)rng_below(&g->r, (uint32_t)statements);
    for (int tried = 0; count > 0 && tried < 40; tried++) {
        bool deep = g->depth >= MAX_DEPTH || g->cost > MAX_COST || !chance(g, 3);
        if (deep ? simple[rng_below(&g->r, sizeof simple / sizeof *simple)](g)
                 : structured[rng_below(&g->r, sizeof structured / sizeof *structured)](g))
            count--;
    }
}

char *generate_program(uint64_t seed) {
    generator *g = calloc(1, sizeof *g);
    if (!g) abort();
    capture c;
    g->r.state = seed;
    capture_begin(g, &c);
    for (int k = 0, n = (int)rng_below(&g->r, MAX_FUNCTIONS); k < n; k++) {
        char name[32];
        snprintf(name, sizeof name, "f%d", k);
        function(g, name, 3 + (int)rng_below(&g->r, 4), 3);
    }
    function(g, "main_fn", MAX_PARAMS, 6);
    char *text = capture_end(g, &c);
    free(g);
    return text;
}
