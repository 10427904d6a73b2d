/* call_tree.c: call paths as folded stacks and for speedscope. */
#include "call_tree.h"
#include "json.h"

#include <stdlib.h>

void call_tree_free(call_tree *tree) {
    free(tree->fns);
    free(tree->paths);
    *tree = (call_tree){0};
}

uint64_t call_tree_total(const call_tree *tree, int mode) {
    uint64_t sum = 0;
    for (uint32_t k = 0; k < tree->npaths; k++) sum += profile_of_mode(&tree->paths[k].own, mode);
    return sum;
}

static void print_stack(const call_tree *tree, int64_t k, FILE *out) {
    if (tree->paths[k].parent >= 0) print_stack(tree, tree->paths[k].parent, out);
    fprintf(out, ";%s", tree->fns[tree->paths[k].fn].name);
}

void call_tree_folded(const call_tree *tree, FILE *out) {
    for (int mode = 0; mode < RVM_PROFILE_MODES; mode++)
        for (uint32_t k = 0; k < tree->npaths; k++) {
            const uint64_t n = profile_of_mode(&tree->paths[k].own, mode);
            if (!n) continue;
            fputs(rvm_profile_mode_name((rvm_profile_mode)mode), out);
            print_stack(tree, k, out);
            fprintf(out, " %llu\n", (unsigned long long)n);
        }
}

/* ---- speedscope ---- */

static void json_frames(json *j, const call_tree *tree) {
    json_key(j, "shared");
    json_open(j, '{');
    json_key(j, "frames");
    json_open(j, '[');
    for (uint32_t fn = 0; fn < tree->nfns; fn++) {
        const call_fn *f = &tree->fns[fn];
        json_open(j, '{');
        json_key(j, "name"), json_text(j, f->name);
        if (f->file) json_key(j, "file"), json_text(j, f->file);
        if (f->file) json_key(j, "line"), json_uint(j, f->line);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void json_stack(json *j, const call_tree *tree, int64_t k) {
    if (tree->paths[k].parent >= 0) json_stack(j, tree, tree->paths[k].parent);
    json_uint(j, tree->paths[k].fn);
}

static void json_mode(json *j, const call_tree *tree, int mode) {
    json_open(j, '{');
    json_key(j, "type"), json_text(j, "sampled");
    json_key(j, "name"), json_text(j, rvm_profile_mode_name((rvm_profile_mode)mode));
    json_key(j, "unit"), json_text(j, "none");
    json_key(j, "startValue"), json_uint(j, 0);
    json_key(j, "endValue"), json_uint(j, call_tree_total(tree, mode));
    json_key(j, "samples");
    json_open(j, '[');
    for (uint32_t k = 0; k < tree->npaths; k++) {
        if (!profile_of_mode(&tree->paths[k].own, mode)) continue;
        json_open(j, '[');
        json_stack(j, tree, k);
        json_close(j, ']');
    }
    json_close(j, ']');
    json_key(j, "weights");
    json_open(j, '[');
    for (uint32_t k = 0; k < tree->npaths; k++)
        if (profile_of_mode(&tree->paths[k].own, mode)) json_uint(j, profile_of_mode(&tree->paths[k].own, mode));
    json_close(j, ']');
    json_close(j, '}');
}

void call_tree_speedscope(const call_tree *tree, FILE *out) {
    json j = {.out = out};
    json_open(&j, '{');
    json_key(&j, "$schema"), json_text(&j, "https://www.speedscope.app/file-format-schema.json");
    json_key(&j, "exporter"), json_text(&j, "rvm " RVM_VERSION_STRING);
    json_key(&j, "name"), json_text(&j, tree->of);
    json_frames(&j, tree);
    json_key(&j, "profiles");
    json_open(&j, '[');
    for (int mode = 0; mode < RVM_PROFILE_MODES; mode++)
        if (call_tree_total(tree, mode)) json_mode(&j, tree, mode);
    json_close(&j, ']');
    json_close(&j, '}');
    fputc('\n', out);
}
