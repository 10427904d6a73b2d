/* disasm.c: a program as raw functions, which assemble to the same bytes (docs/language.md, raw mnemonics).
 *
 * Everything that the bytes hold is written, in their order; source names stand in comments besides.
 */
#include "text.h"
#include "builder.h"
#include "program.h"
#include "support.h"
#include <errno.h>
#include <string.h>

/* What a function is written with: where labels stand, and the names at the present pc. */
typedef struct listing {
    rvm_sink to;
    rvm_view view;
    rvm_names names;
    uint8_t *labelled; /* of each instruction */
    uint32_t symbol;   /* the first that starts later */
    const rvm_allocator *al;
} listing;

static void put_quoted(rvm_sink *to, const char *s) {
    rvm__put(to, "\"");
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c < 32 || c == 127)
            rvm__put(to, "\\x%02x", c);
        else
            rvm__put(to, c == '"' || c == '\\' ? "\\%c" : "%c", c);
    }
    rvm__put(to, "\"");
}

/* ---- directives ---- */

/* Starts item k of a list of directives, `wide` of them a line. */
static void put_item(rvm_sink *to, uint32_t k, uint32_t wide, const char *directive) {
    if (k % wide == 0)
        rvm__put(to, "%s    %s ", k ? "\n" : "", directive);
    else
        rvm__put(to, " ");
}

static void put_declarations(rvm_sink *to, const rvm_view *v) {
    const rvm_function *f = v->f;
    for (uint32_t k = 0; k < f->nregs; k++) {
        put_item(to, k, 16, ".reg");
        rvm__put(to, "%s", rvm_type_name((rvm_type)f->reg_type[k]));
    }
    rvm__put(to, f->nregs ? "\n" : "");
    for (uint32_t k = 0; k < f->nconsts; k++) {
        put_item(to, k, 8, ".const");
        rvm__put_slot(to, v, (uint16_t)(f->nregs + k));
    }
    rvm__put(to, f->nconsts ? "\n" : "");
    for (uint32_t k = 0; k < f->narrays; k++) {
        put_item(to, k, 16, ".array");
        rvm__put(to, "%s[%.*s]", rvm_type_name((rvm_type)f->arrays[k].type), f->arrays[k].ndim - 1, ",,,");
    }
    rvm__put(to, f->narrays ? "\n" : "");
}

static void put_params(rvm_sink *to, const rvm_view *v) {
    for (uint32_t k = 0; k < v->f->nparams; k++) {
        const rvm_param *q = v->f->params + k;
        rvm__put(to, "    .param %s %c%u", q->name, q->ndim ? '@' : '%', q->index);
        for (int d = 0; d < q->ndim; d++) {
            rvm__put(to, "%s", d ? ", " : "[");
            rvm__put_slot(to, v, q->dim[d]);
        }
        rvm__put(to, "%s", q->ndim ? "]" : "");
        if (q->signature) rvm__put(to, " %s", v->p->signatures[q->signature - 1].text);
        rvm__put(to, "  # %s\n", rvm_role_name((rvm_role)q->role));
    }
}

/* .rule 2 f "11": a derivative of f by hand; kind, active */
static void put_rule(rvm_sink *to, const rvm_program *p, uint32_t fn) {
    const rvm_rule *rule = rvm__rule_of(p, fn);
    if (!rule) return;
    rvm__put(to, "    .rule %u %s \"", rule->kind, p->functions[rule->of].name);
    for (uint32_t k = 0; k < rule->nactive; k++) rvm__put(to, "%u", rule->active[k]);
    rvm__put(to, "\"\n");
}

/* .print "x is \\x01" */
static void put_print(rvm_sink *to, const rvm_program *p, uint32_t fn) {
    const char *text = rvm__print_text(p, fn);
    if (!text) return;
    rvm__put(to, "    .print ");
    put_quoted(to, text);
    rvm__put(to, "\n");
}

static void put_symbols(rvm_sink *to, const rvm_function *f) {
    for (uint32_t k = 0; k < f->nsymbols; k++) {
        const rvm_symbol *s = f->symbols + k;
        rvm__put(to, "    .symbol %s %c%u %u %u\n", s->name, s->is_array ? '@' : '%', s->index, s->from, s->to);
    }
}

/* ---- code ---- */

static void put_line(rvm_sink *to, const rvm_function *f, uint32_t pc) {
    rvm_position at = f->positions[pc], last = pc ? f->positions[pc - 1] : (rvm_position){0, 0, 0};
    if (pc && at.line == last.line && at.column == last.column && at.file == last.file) return;
    rvm__put(to, "    .line %u %u", at.line, at.column);
    if (at.file != last.file) rvm__put(to, " %u", at.file);
    rvm__put(to, "\n");
}

static bool has_name(const rvm_view *v) {
    const rvm_insn *in = v->f->code + v->pc;
    for (int k = 0; k < in->nplaces; k++) {
        const rvm_place *q = rvm__places(v->f, in) + k;
        bool is_array = q->kind == RVM_PLACE_ELEM || q->kind == RVM_PLACE_ARRAY;
        if (rvm__view_name(v, is_array, q->slot)) return true;
        for (int i = 0; i < q->nidx && i < RVM_MAX_DIMS; i++)
            if (rvm__view_name(v, false, q->idx[i])) return true;
    }
    return false;
}

static void put_code(listing *l) {
    const rvm_function *f = l->view.f;
    RVM__EACH_INSN(x, f) {
        for (; l->symbol < f->nsymbols && f->symbols[l->symbol].from <= x.pc; l->symbol++) {
            const rvm_symbol *s = f->symbols + l->symbol;
            l->names.current[s->is_array][s->index] = l->symbol + 1;
        }
        put_line(&l->to, f, x.pc);
        if (l->labelled[x.pc]) rvm__put(&l->to, "  L%u:\n", x.pc);
        rvm__put(&l->to, "    ");
        l->view.pc = x.pc;
        l->view.raw = true;
        rvm__put_insn(&l->to, &l->view);
        l->view.raw = false;
        if (has_name(&l->view)) {
            rvm__put(&l->to, "  # ");
            rvm__put_insn(&l->to, &l->view);
        }
        rvm__put(&l->to, "\n");
    }
}

/* ---- functions ---- */

static void *zeros(const rvm_allocator *al, size_t size) {
    void *p = rvm__realloc(al, NULL, 0, size + 1);
    if (p) memset(p, 0, size + 1);
    return p;
}

static void mark_labels(listing *l) {
    const rvm_function *f = l->view.f;
    RVM__EACH_INSN(x, f)
        if (rvm__op_target((rvm_op)x.in->op) == 'L' && x.in->target < f->ncode) l->labelled[x.in->target] = 1;
}

static bool put_function(listing *l) {
    const rvm_function *f = l->view.f;
    size_t sizes[2] = {f->nregs * sizeof(uint32_t), f->narrays * sizeof(uint32_t)};
    l->symbol = 0;
    l->labelled = zeros(l->al, f->ncode);
    for (int k = 0; k < 2; k++) l->names.current[k] = zeros(l->al, sizes[k]);
    bool ok = l->labelled && l->names.current[0] && l->names.current[1];
    if (ok) {
        mark_labels(l);
        rvm__put(&l->to, "\nraw fn %s\n", f->name);
        l->view.raw = true;
        put_declarations(&l->to, &l->view);
        put_params(&l->to, &l->view);
        put_rule(&l->to, l->view.p, (uint32_t)(f - l->view.p->functions));
        put_print(&l->to, l->view.p, (uint32_t)(f - l->view.p->functions));
        put_symbols(&l->to, f);
        put_code(l);
        rvm__put(&l->to, "end\n");
    }
    if (l->labelled) rvm__realloc(l->al, l->labelled, f->ncode + (size_t)1, 0);
    for (int k = 0; k < 2; k++)
        if (l->names.current[k]) rvm__realloc(l->al, l->names.current[k], sizes[k] + 1, 0);
    return ok;
}

/* .type fn(acc f64)   .variant 0   .variant 0 2 0 0 "10" 1 f f'adj ..: parent, kind, level, stack, active, type of the
 * arguments, functions */
static void put_variants(rvm_sink *to, const rvm_program *p) {
    for (uint32_t k = 0; k < p->nsignatures; k++) rvm__put(to, ".type %s  # %u\n", p->signatures[k].text, k);
    for (uint32_t k = 0; k < p->nvariants; k++) {
        const rvm_variant *v = p->variants + k;
        rvm__put(to, ".variant %u", v->parent == k ? v->of : v->parent);
        if (v->parent != k) {
            uint32_t n = p->signatures[p->variants[v->parent].signature].nparams;
            rvm__put(to, " %u %u %u \"", v->kind, v->level, rvm__variant_ways(v));
            for (uint32_t i = 0; i < n; i++) rvm__put(to, "%u", v->active[i]);
            rvm__put(to, "\" %u", v->signature);
        }
        for (uint32_t i = 0; i < v->nderived; i++)
            rvm__put(to, " %s %s", p->functions[v->derived[i].fn].name, p->functions[v->derived[i].derived].name);
        rvm__put(to, "  # v%u\n", k);
    }
}

rvm_status rvm_program_disassemble(const rvm_program *p, int64_t fn, FILE *out, rvm_error *err) {
    RVM__NEEDS(p, out);
    listing l = {.to = {.file = out}, .view = {.p = p}, .al = &p->al};
    l.view.names = &l.names;
    if (fn >= (int64_t)p->nfunctions)
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "no function has number %lld", (long long)fn);
    for (uint32_t k = 0; k < p->nfiles; k++) {
        rvm__put(&l.to, ".file ");
        put_quoted(&l.to, p->files[k]);
        rvm__put(&l.to, "\n");
    }
    put_variants(&l.to, p);
    uint32_t from = fn < 0 ? 0 : (uint32_t)fn, to = fn < 0 ? p->nfunctions : from + 1;
    for (uint32_t k = from; k < to; k++) {
        l.view.f = p->functions + k;
        if (!put_function(&l)) return rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory disassembling");
    }
    if (fflush(out) || ferror(out)) return rvm__fail(err, RVM_ERR_IO, NULL, 0, 0, "cannot write: %s", strerror(errno));
    return RVM_OK;
}
