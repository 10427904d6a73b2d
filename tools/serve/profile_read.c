#include "profile_read.h"

#include <stdlib.h>

void profile_read_counts(const json_t *v, rvm_profile_counts *to) {
    *to = (rvm_profile_counts){0};
    for (int mode = 0; mode < RVM_PROFILE_MODES; mode++) {
        const json_t *pair = json_object_get(v, rvm_profile_mode_name((rvm_profile_mode)mode));
        for (size_t way = 0; way < 2; way++) to->n[mode][way] = (uint64_t)json_integer_value(json_array_get(pair, way));
    }
}

/* Functions by name; what a path names is looked up there. */
static json_t *read_functions(call_tree *tree, const json_t *list) {
    json_t *numbers = json_object();
    const json_t *v;
    size_t k;
    tree->nfns = (uint32_t)json_array_size(list);
    tree->fns = calloc(tree->nfns + 1, sizeof *tree->fns);
    if (!tree->fns || !numbers) return numbers;
    json_array_foreach(list, k, v) {
        const char *name = json_string_value(json_object_get(v, "name"));
        tree->fns[k] = (call_fn){name ? name : "?", json_string_value(json_object_get(v, "file")),
                                 (uint32_t)json_integer_value(json_object_get(v, "line"))};
        json_object_set_new(numbers, tree->fns[k].name, json_integer((json_int_t)k));
    }
    return numbers;
}

/* A parent stands before its children, or what was kept is damaged. */
static bool read_path(call_tree *tree, const json_t *numbers, const json_t *v, uint32_t k) {
    const json_t *parent = json_object_get(v, "parent");
    const char *name = json_string_value(json_object_get(v, "function"));
    const json_t *fn = name ? json_object_get(numbers, name) : NULL;
    call_path *p = &tree->paths[k];
    p->parent = json_is_integer(parent) ? json_integer_value(parent) : -1;
    p->fn = (uint32_t)json_integer_value(fn);
    profile_read_counts(json_object_get(v, "own"), &p->own);
    return fn && p->parent < (int64_t)k && p->parent >= -1;
}

bool profile_read(kept_profile *kept, const part *bytes) {
    call_tree *tree = &kept->tree;
    const json_t *v;
    size_t k;
    *kept = (kept_profile){.root = json_loadb(bytes->bytes, bytes->size, 0, NULL)};
    const json_t *paths = json_object_get(kept->root, "paths");
    tree->of = json_string_value(json_object_get(kept->root, "of"));
    json_t *numbers = read_functions(tree, json_object_get(kept->root, "functions"));
    tree->npaths = (uint32_t)json_array_size(paths);
    tree->paths = calloc(tree->npaths + 1, sizeof *tree->paths);
    bool good = kept->root && tree->of && numbers && tree->fns && tree->paths;
    if (good) json_array_foreach(paths, k, v) good = good && read_path(tree, numbers, v, (uint32_t)k);
    json_decref(numbers);
    return good;
}

void profile_read_free(kept_profile *k) {
    call_tree_free(&k->tree);
    json_decref(k->root);
}
