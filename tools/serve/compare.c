/* compare.c: what two runs executed, function by function, line by line, path by path: only what differs, the largest
 * difference first; what is in one of them only stands in lists of its own. */
#include "profile_read.h"
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

/* Counts of both runs by a text: a name, "file:line", "f;g;h". */
typedef struct pair {
    const char *key;
    uint64_t n[2];
} pair;
typedef struct pairs {
    json_t *numbers; /* key -> index */
    pair *item;
    size_t n, room;
} pairs;

static void add(pairs *p, const char *key, int side, uint64_t count) {
    const json_t *known = json_object_get(p->numbers, key);
    size_t k = (size_t)json_integer_value(known);
    if (!count || !p->numbers) return;
    if (!known) {
        if (p->n == p->room) {
            const size_t room = p->room ? 2 * p->room : 64;
            pair *grown = realloc(p->item, room * sizeof *grown);
            if (!grown) return;
            p->item = grown, p->room = room;
        }
        k = p->n;
        if (json_object_set_new(p->numbers, key, json_integer((json_int_t)k))) return;
        p->item[p->n++] = (pair){0};
    }
    p->item[k].n[side] += count;
}

static uint64_t distance(const pair *p) {
    return p->n[0] > p->n[1] ? p->n[0] - p->n[1] : p->n[1] - p->n[0];
}

static int by_distance(const void *a, const void *b) {
    const uint64_t m = distance(a), n = distance(b);
    return (m < n) - (m > n);
}

static void print_pairs(json *j, const char *name, pairs *p) {
    const char *key;
    json_t *number;
    json_object_foreach(p->numbers, key, number) p->item[json_integer_value(number)].key = key;
    if (p->n) qsort(p->item, p->n, sizeof *p->item, by_distance);
    static const char *const lists[] = {"changed", "vanished", "appeared"};
    json_key(j, name);
    json_open(j, '{');
    for (int list = 0; list < 3; list++) {
        json_key(j, lists[list]);
        json_open(j, '[');
        for (size_t k = 0; k < p->n && distance(&p->item[k]); k++) {
            const pair *q = &p->item[k];
            if (list != (q->n[0] && q->n[1] ? 0 : q->n[0] ? 1 : 2)) continue;
            json_open(j, '{');
            json_key(j, "at"), json_text(j, q->key);
            json_key(j, "a"), json_uint(j, q->n[0]);
            json_key(j, "b"), json_uint(j, q->n[1]);
            json_close(j, '}');
        }
        json_close(j, ']');
    }
    json_close(j, '}');
    json_decref(p->numbers);
    free(p->item);
}

static void add_functions(pairs *p, const kept_profile *k, int side) {
    const json_t *v;
    size_t i;
    rvm_profile_counts own;
    json_array_foreach(json_object_get(k->root, "functions"), i, v) {
        profile_read_counts(json_object_get(v, "own"), &own);
        add(p, k->tree.fns[i].name, side, rvm_profile_sum(&own));
    }
}

static void add_lines(pairs *p, const kept_profile *k, int side) {
    const json_t *v;
    size_t i;
    rvm_profile_counts own;
    char at[400];
    json_array_foreach(json_object_get(k->root, "lines"), i, v) {
        const char *file = json_string_value(json_object_get(v, "file"));
        profile_read_counts(json_object_get(v, "own"), &own);
        snprintf(at, sizeof at, "%s:%d", file ? file : "?", (int)json_integer_value(json_object_get(v, "line")));
        add(p, at, side, rvm_profile_sum(&own));
    }
}

static void path_text(const call_tree *tree, int64_t k, FILE *out) {
    if (tree->paths[k].parent >= 0) path_text(tree, tree->paths[k].parent, out), fputc(';', out);
    fputs(tree->fns[tree->paths[k].fn].name, out);
}

static void add_paths(pairs *p, const kept_profile *k, int side) {
    for (uint32_t i = 0; i < k->tree.npaths; i++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        if (out) path_text(&k->tree, i, out), fclose(out);
        if (text) add(p, text, side, rvm_profile_sum(&k->tree.paths[i].own));
        free(text);
    }
}

static uint64_t total(const kept_profile *k) {
    uint64_t sum = 0;
    for (int mode = 0; mode < RVM_PROFILE_MODES; mode++) sum += call_tree_total(&k->tree, mode);
    return sum;
}

void work_compare(work *w) {
    static const struct {
        const char *name;
        void (*add)(pairs *, const kept_profile *, int);
    } views[] = {{"functions", add_functions}, {"lines", add_lines}, {"paths", add_paths}};
    kept_profile kept[2];
    bool good = profile_read(&kept[0], &w->in[0]);
    good = profile_read(&kept[1], &w->in[1]) && good;
    FILE *out = good ? open_memstream(&w->text, &w->text_size) : NULL;
    json j = {.out = out};
    if (out) {
        json_open(&j, '{');
        json_key(&j, "ok"), json_bool(&j, true);
        json_key(&j, "instructions"), json_open(&j, '{');
        json_key(&j, "a"), json_uint(&j, total(&kept[0])), json_key(&j, "b"), json_uint(&j, total(&kept[1]));
        json_close(&j, '}');
        for (size_t v = 0; v < sizeof views / sizeof *views; v++) {
            pairs p = {.numbers = json_object()};
            for (int side = 0; side < 2; side++) views[v].add(&p, &kept[side], side);
            print_pairs(&j, views[v].name, &p);
        }
        json_close(&j, '}');
        fclose(out);
    }
    for (int side = 0; side < 2; side++) profile_read_free(&kept[side]);
    if (!out) work_fail(w, RVM_ERR_INTERNAL, "a kept profile cannot be read");
}
