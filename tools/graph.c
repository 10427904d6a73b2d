/* graph.c: the facts of the picture, in one pass over the instructions of a function: see graph.h.
 *
 * A place is there between two instructions alike on all paths of control, which the verifier proved; so the pass goes
 * through the text, and takes up what a jump had with it where only that jump leads on.
 */
#include "graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = UINT32_MAX };

typedef struct saved {
    uint32_t pc, *alive;
} saved;

typedef struct maker {
    tool *t;
    graph *g;
    bool statements, oom, cut; /* cut: the instruction before did not go on to the next */
    uint32_t *alive;           /* by variable: its life, or NONE */
    uint32_t *row_at;          /* by pc: the row, or the one that will be next */
    saved *jumps;
    uint32_t njumps, cap_jumps;
    uint32_t *open, nopen, cap_open; /* regions of compute that are open, innermost last */
    char **lines;                    /* of the source `file` */
    uint32_t nlines;
    const char *file;
} maker;

static bool grow(maker *m, void **at, uint32_t *cap, uint32_t n, size_t size) {
    if (n < *cap) return true;
    const uint32_t more = *cap ? 2 * *cap : 64;
    void *grown = realloc(*at, more * size);
    if (!grown) return m->oom = true, false;
    *at = grown, *cap = more;
    return true;
}
#define ADD(m, array) (grow(m, (void **)&(m)->g->array, &(m)->g->cap_##array, (m)->g->n##array, sizeof *(m)->g->array))

/* ---- source ---- */

static void free_lines(maker *m) {
    for (uint32_t k = 0; k < m->nlines; k++) free(m->lines[k]);
    free(m->lines);
    m->lines = NULL, m->nlines = 0;
}

static void read_lines(maker *m, const char *file) {
    free_lines(m);
    m->file = file;
    FILE *f = fopen(file, "r");
    char *line = NULL;
    size_t size = 0;
    uint32_t cap = 0;
    ssize_t length;
    while (f && (length = getline(&line, &size, f)) >= 0 && grow(m, (void **)&m->lines, &cap, m->nlines, sizeof *m->lines)) {
        while (length && strchr(" \t\r\n", line[length - 1])) line[--length] = 0;
        m->lines[m->nlines++] = line;
        line = NULL, size = 0;
    }
    free(line);
    if (f) fclose(f);
}

/* The statement as it is written, or NULL. */
static const char *source_line(maker *m, uint32_t pc) {
    const char *file;
    uint32_t line;
    rvm_program_position(m->g->p, m->g->fn, pc, &file, &line, NULL);
    if (!file || !line) return NULL;
    if (file != m->file) read_lines(m, file);
    return line <= m->nlines ? m->lines[line - 1] + strspn(m->lines[line - 1], " \t") : NULL;
}

/* ---- labels ---- */

static void instruction_label(const graph *g, uint32_t pc, const rvm_instruction *in, FILE *to) {
    fputs(in->mnemonic, to);
    if (in->row) fprintf(to, ".%s", in->row);
    if (in->callee >= 0) fprintf(to, " %s", rvm_program_function_name(g->p, (uint32_t)in->callee));
    for (uint32_t k = 0; k < in->places; k++) {
        char text[96];
        rvm_program_place_text(g->p, g->fn, pc, k, text, sizeof text);
        fprintf(to, "%s%s", k ? ", " : " ", text);
    }
}

static char *label_of(maker *m, uint32_t pc, const rvm_instruction *in) {
    const char *line = m->statements ? source_line(m, pc) : NULL;
    if (line) {
        char *copy = strdup(line);
        m->oom |= !copy;
        return copy;
    }
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (to) instruction_label(m->g, pc, in, to), fclose(to);
    m->oom |= !text;
    return text;
}

/* ---- lives ---- */

static uint32_t begin_life(maker *m, uint32_t variable, uint32_t row, bool array, const char *name) {
    graph *g = m->g;
    if (!ADD(m, lives)) return NONE;
    graph_life *l = &g->lives[g->nlives];
    *l = (graph_life){.column = variable, .from = row, .to = NONE, .array = array};
    snprintf(l->name, sizeof l->name, "%s", name);
    return m->alive[variable] = g->nlives++;
}

static void end_life(maker *m, uint32_t variable, uint32_t row) {
    if (m->alive[variable] != NONE) m->g->lives[m->alive[variable]].to = row;
    m->alive[variable] = NONE;
}

static void begin_params(maker *m) {
    rvm_variable_info v;
    for (uint32_t k = 0; rvm_program_variable(m->g->p, m->g->fn, k, &v); k++)
        if (v.param >= 0 || v.length) {
            char number[16];
            snprintf(number, sizeof number, "%%%" PRIu32, k);
            const uint32_t life = begin_life(m, k, 0, v.array, v.name ? v.name : number);
            if (life != NONE) m->g->lives[life].param = true;
        }
}

/* Temporaries have a number for a name. */
static bool is_named(const graph *g, uint32_t life) {
    return life != NONE && !strchr("%@", g->lives[life].name[0]);
}

/* Behind a jump the places are what they were there: lives that have ended since go on as new ones. */
static void take_up(maker *m, const uint32_t *alive, uint32_t row) {
    for (uint32_t v = 0; v < m->g->nvariables; v++) {
        if (m->alive[v] == alive[v]) continue;
        end_life(m, v, row);
        if (alive[v] == NONE) continue;
        const graph_life was = m->g->lives[alive[v]];
        if (was.to == NONE)
            m->alive[v] = alive[v];
        else
            begin_life(m, v, row, was.array, was.name);
    }
}

static void save(maker *m, uint32_t pc) {
    if (!grow(m, (void **)&m->jumps, &m->cap_jumps, m->njumps, sizeof *m->jumps)) return;
    const size_t size = (m->g->nvariables + 1) * sizeof *m->alive;
    uint32_t *copy = malloc(size);
    m->oom |= !copy;
    if (!copy) return;
    memcpy(copy, m->alive, size);
    m->jumps[m->njumps++] = (saved){pc, copy};
}

static const uint32_t *saved_at(const maker *m, uint32_t pc) {
    for (uint32_t k = m->njumps; k-- > 0;)
        if (m->jumps[k].pc == pc) return m->jumps[k].alive;
    return NULL;
}

/* ---- marks ---- */

static graph_mark *mark_of(maker *m, uint32_t row, uint32_t variable) {
    graph *g = m->g;
    for (uint32_t k = g->rows[row].marks; k < g->nmarks; k++)
        if (g->marks[k].column == variable) return &g->marks[k];
    if (!ADD(m, marks)) return NULL;
    g->rows[row].nmarks++;
    g->marks[g->nmarks] = (graph_mark){.column = variable};
    return &g->marks[g->nmarks++];
}

static void dot(maker *m, uint32_t row, uint32_t variable) {
    if (!m->statements || is_named(m->g, m->alive[variable])) mark_of(m, row, variable);
}

static void box(maker *m, uint32_t row, const rvm_operand *o, const rvm_instruction *in, const char *place) {
    graph_mark *k = mark_of(m, row, (uint32_t)o->variable);
    if (!k) return;
    k->box = true;
    k->gone = o->appears < 0;
    k->element |= strchr(place, '[') != NULL;
    snprintf(k->place, sizeof k->place, "%s", place);
    const bool named = in->row && strcmp(in->row, "id") && !m->statements;
    snprintf(k->text, sizeof k->text, "%s%s", in->symbol ? in->symbol : in->mnemonic, named ? in->row : "");
}

static void operand(maker *m, uint32_t pc, uint32_t row, uint32_t k, const rvm_instruction *in) {
    rvm_operand o;
    char place[48];
    if (!rvm_program_operand(m->g->p, m->g->fn, pc, k, &o)) return;
    for (int d = 0; d < o.indices; d++) dot(m, row, o.index[d]);
    if (o.variable < 0) return;
    const uint32_t v = (uint32_t)o.variable;
    rvm_program_place_text(m->g->p, m->g->fn, pc, k, place, sizeof place);
    if (o.appears > 0) begin_life(m, v, row, o.whole, place);
    if (m->statements && !is_named(m->g, m->alive[v]))
        ;
    else if (o.role != RVM_READ)
        box(m, row, &o, in, place);
    else
        dot(m, row, v);
    if (o.appears < 0) end_life(m, v, row);
}

/* ---- regions ---- */

static uint32_t add_region(maker *m, enum graph_kind kind, uint32_t from, uint32_t to) {
    graph *g = m->g;
    if (!ADD(m, regions)) return NONE;
    g->regions[g->nregions] = (graph_region){.kind = kind, .from = from, .to = to, .undone = NONE};
    return g->nregions++;
}

static void compute(maker *m, uint32_t pc) {
    uint32_t numbers = 1;
    for (uint32_t k = 0; k < m->g->nregions; k++) numbers += m->g->regions[k].kind == GRAPH_COMPUTE;
    const uint32_t r = add_region(m, GRAPH_COMPUTE, m->g->nrows, NONE);
    if (r == NONE || !grow(m, (void **)&m->open, &m->cap_open, m->nopen, sizeof *m->open)) return;
    m->g->regions[r].number = numbers, m->g->regions[r].pc = pc;
    m->open[m->nopen++] = r;
    save(m, pc);
}

static graph_row *add_row(maker *m, uint32_t pc, char *label) {
    graph *g = m->g;
    if (!label || !ADD(m, rows)) return free(label), NULL;
    uint32_t line;
    rvm_program_position(g->p, g->fn, pc, NULL, &line, NULL);
    g->rows[g->nrows] = (graph_row){.pc = pc, .last = pc, .line = line, .marks = g->nmarks, .undone = NONE, .label = label};
    return &g->rows[g->nrows++];
}

/* The compute part once more, backward: a row with a box for all that it changed and that is still there. What appeared
 * there disappears. */
static void undo(maker *m, uint32_t pc) {
    if (m->oom || !m->nopen) return;
    graph *g = m->g;
    graph_region *r = &g->regions[m->open[--m->nopen]];
    const uint32_t at = g->nrows, first = g->rows ? g->rows[r->from < at ? r->from : 0].marks : 0;
    const uint32_t end = r->to + 1 < at ? g->rows[r->to + 1].marks : g->nmarks;
    const bool empty = r->to == NONE || r->to + 1 == r->from;
    char label[32];
    snprintf(label, sizeof label, "~X%u", r->number);
    if (!empty) {
        graph_row *row = add_row(m, pc, strdup(label));
        m->oom |= !row;
        if (!row) return;
        row->undone = (uint32_t)(r - g->regions);
        r->undone = at;
        for (uint32_t k = first; k < end; k++) {
            const graph_mark was = g->marks[k];
            if (!was.box || m->alive[was.column] == NONE) continue;
            graph_mark *mark = mark_of(m, at, was.column);
            if (mark) mark->box = true, mark->element = was.element;
        }
    }
    const uint32_t *before = saved_at(m, r->pc);
    if (before) take_up(m, before, at + !empty);
}

/* Behind the rows of the instruction: the loop or branch that it ends. */
static void end_regions(maker *m, uint32_t pc, const rvm_instruction *in) {
    if (in->target < 0 || in->target >= pc) return;
    const uint32_t from = m->row_at[in->target], to = m->g->nrows;
    if (to <= from) return;
    switch (in->flow) {
    case RVM_FLOW_LOOP_END:
    case RVM_FLOW_JUMP:
    case RVM_FLOW_JUMP_IF: add_region(m, GRAPH_LOOP, from, to - 1); break;
    case RVM_FLOW_BLOCK_END: add_region(m, GRAPH_PARALLEL, from, to - 1); break;
    case RVM_FLOW_COME_FROM:
        if (to - 1 > from) add_region(m, GRAPH_BRANCH, from, to - 2);
        break;
    default: break;
    }
}

/* ---- the pass ---- */

/* Whether it goes on with the row before: the same statement, in the same region. */
static bool continues(const maker *m, uint32_t pc, const rvm_instruction *in) {
    const graph *g = m->g;
    if (!m->statements || !g->nrows || in->flow == RVM_FLOW_COME_FROM) return false;
    const graph_row *r = &g->rows[g->nrows - 1];
    uint32_t line;
    rvm_program_position(g->p, g->fn, pc, NULL, &line, NULL);
    return line && r->line == line && r->last + 1 == pc && r->undone == NONE;
}

/* The only row of the line so far, or an end of a loop. */
static bool says_more(const maker *m, const graph_row *r) {
    const graph *g = m->g;
    for (uint32_t pc = r->pc; pc <= r->last; pc++) {
        rvm_instruction in;
        rvm_program_instruction(g->p, g->fn, pc, &in);
        if (in.flow == RVM_FLOW_JUMP_IF && in.target < pc) return true;
        if (in.flow == RVM_FLOW_COME_FROM && in.target > pc) return true;
        if (in.flow != RVM_FLOW_JUMP_IF) continue;
        for (uint32_t k = 0; k + 1 < g->nrows; k++)
            if (g->rows[k].line == r->line) return false;
        return true;
    }
    return false;
}

/* A statement's row in which nothing changes that has a name is left out, but for conditions. */
static void drop_empty(maker *m) {
    graph *g = m->g;
    if (!m->statements || !g->nrows) return;
    graph_row *r = &g->rows[g->nrows - 1];
    if (r->undone != NONE || says_more(m, r)) return;
    for (uint32_t k = r->marks; k < g->nmarks; k++)
        if (g->marks[k].box) return;
    g->nmarks = r->marks;
    free(r->label);
    g->nrows--;
}

static void row_of(maker *m, uint32_t pc, const rvm_instruction *in) {
    graph *g = m->g;
    if (continues(m, pc, in))
        g->rows[g->nrows - 1].last = pc;
    else {
        drop_empty(m);
        if (!add_row(m, pc, label_of(m, pc, in))) m->oom = true;
    }
    m->row_at[pc] = g->nrows ? g->nrows - 1 : 0;
    for (uint32_t k = 0; !m->oom && k < in->places; k++) operand(m, pc, g->nrows - 1, k, in);
}

/* Regions have no row of their own. */
static bool is_region(maker *m, uint32_t pc, const rvm_instruction *in) {
    const bool region = in->flow == RVM_FLOW_COMPUTE || in->flow == RVM_FLOW_DO || in->flow == RVM_FLOW_UNDO;
    if (region) drop_empty(m), m->row_at[pc] = m->g->nrows;
    if (in->flow == RVM_FLOW_COMPUTE) compute(m, pc);
    if (in->flow == RVM_FLOW_DO && m->nopen) m->g->regions[m->open[m->nopen - 1]].to = m->g->nrows - 1;
    if (in->flow == RVM_FLOW_UNDO) undo(m, pc);
    return region;
}

static void instruction(maker *m, uint32_t pc) {
    rvm_instruction in;
    rvm_program_instruction(m->g->p, m->g->fn, pc, &in);
    m->row_at[pc] = m->g->nrows;
    if (in.flow == RVM_FLOW_END || is_region(m, pc, &in)) return;
    if (m->cut && in.flow == RVM_FLOW_COME_FROM && in.target < pc) {
        const uint32_t *alive = saved_at(m, (uint32_t)in.target);
        if (alive) take_up(m, alive, m->g->nrows);
    }
    m->cut = in.flow == RVM_FLOW_JUMP;
    row_of(m, pc, &in);
    if ((m->cut || in.flow == RVM_FLOW_JUMP_IF) && in.target > pc) save(m, pc);
    end_regions(m, pc, &in);
}

/* ---- columns: parameters in their order, then places by where they appear first ---- */

static void number_columns(maker *m, bool *used) {
    graph *g = m->g;
    rvm_variable_info v;
    const uint32_t nparams = rvm_program_param_count(g->p, g->fn);
    for (uint32_t i = 0; i < nparams; i++)
        for (uint32_t k = 0; rvm_program_variable(g->p, g->fn, k, &v); k++)
            if (v.param == i) g->column[k] = g->ncolumns++;
    for (uint32_t k = 0; k < g->nlives; k++) {
        const uint32_t variable = g->lives[k].column;
        if (g->column[variable] == NONE && used[variable]) g->column[variable] = g->ncolumns++;
    }
}

static void settle_lives(maker *m) {
    graph *g = m->g;
    uint32_t n = 0;
    for (uint32_t k = 0; k < g->nlives; k++) {
        graph_life l = g->lives[k];
        if ((m->statements && !is_named(g, k)) || g->column[l.column] == NONE) continue;
        l.column = g->column[l.column];
        if (l.to == NONE) l.to = g->nrows;
        g->lives[n++] = l;
    }
    g->nlives = n;
}

static bool holds(const graph_region *outer, const graph_region *inner) {
    return outer->from <= inner->from && inner->to <= outer->to && outer != inner &&
           (outer->from < inner->from || inner->to < outer->to || outer < inner);
}

static void settle_region(graph *g, graph_region *r) {
    r->low = NONE, r->high = 0;
    for (uint32_t k = r->from; k <= r->to && k < g->nrows; k++)
        for (uint32_t j = g->rows[k].marks; j < g->rows[k].marks + g->rows[k].nmarks; j++) {
            const uint32_t at = g->marks[j].column;
            if (at < r->low) r->low = at;
            if (at > r->high) r->high = at;
        }
    for (uint32_t k = 0; k < g->nregions; k++) r->depth += holds(&g->regions[k], r);
}

static void settle(maker *m, bool *used) {
    graph *g = m->g;
    drop_empty(m);
    for (uint32_t k = 0; k < g->nmarks; k++) used[g->marks[k].column] = true;
    number_columns(m, used);
    settle_lives(m);
    for (uint32_t k = 0; k < g->nmarks; k++) g->marks[k].column = g->column[g->marks[k].column];
    for (uint32_t k = 0; k < g->nregions; k++) settle_region(g, &g->regions[k]);
}

static bool begin(maker *m, bool **used) {
    graph *g = m->g;
    rvm_variable_info v;
    while (rvm_program_variable(g->p, g->fn, g->nvariables, &v)) g->nvariables++;
    const size_t n = g->nvariables + 1;
    m->alive = malloc(n * sizeof *m->alive), g->column = malloc(n * sizeof *g->column), *used = calloc(n, 1);
    m->row_at = calloc(rvm_program_code_size(g->p, g->fn) + 1, sizeof *m->row_at);
    if (!m->alive || !g->column || !*used || !m->row_at) return false;
    memset(m->alive, 0xff, n * sizeof *m->alive), memset(g->column, 0xff, n * sizeof *g->column);
    begin_params(m);
    return true;
}

rvm_status graph_make(tool *t, uint32_t fn, bool statements, graph *g) {
    *g = (graph){.p = t->program, .fn = fn};
    maker m = {.t = t, .g = g, .statements = statements};
    bool *used = NULL;
    m.oom = !begin(&m, &used);
    for (uint32_t pc = 0, n = rvm_program_code_size(g->p, fn); !m.oom && pc < n; pc++) instruction(&m, pc);
    if (!m.oom) settle(&m, used);
    for (uint32_t k = 0; k < m.njumps; k++) free(m.jumps[k].alive);
    free_lines(&m);
    free(m.jumps), free(m.open), free(m.alive), free(m.row_at), free(used);
    return m.oom ? tool_fail(t, RVM_ERR_MEMORY, "out of memory") : RVM_OK;
}

void graph_free(graph *g) {
    for (uint32_t k = 0; k < g->nrows; k++) free(g->rows[k].label);
    free(g->rows), free(g->marks), free(g->lives), free(g->regions), free(g->column);
}
