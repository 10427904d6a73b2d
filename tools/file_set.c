#include "file_set.h"

#include <stdlib.h>
#include <string.h>

static file_set_item *append(file_set *s, const char *name) {
    if (s->n == s->room) {
        const size_t room = s->room ? 2 * s->room : 8;
        file_set_item *grown = realloc(s->item, room * sizeof *grown);
        if (!grown) return NULL;
        s->item = grown, s->room = room;
    }
    file_set_item *i = &s->item[s->n];
    *i = (file_set_item){.name = strdup(name)};
    if (i->name) s->n++;
    return i->name ? i : NULL;
}

bool file_set_add(file_set *s, const char *name, char *bytes, size_t size) {
    file_set_item *i = bytes ? append(s, name) : NULL;
    if (!i) return free(bytes), false;
    i->bytes = bytes, i->size = size;
    return true;
}

bool file_set_add_copy(file_set *s, const char *name, const void *bytes, size_t size) {
    char *copy = malloc(size + 1);
    if (!copy) return false;
    if (size) memcpy(copy, bytes, size);
    copy[size] = 0;
    return file_set_add(s, name, copy, size);
}

bool file_set_add_error(file_set *s, const char *name, int error) {
    file_set_item *i = append(s, name);
    if (i) i->error = error;
    return i;
}

const file_set_item *file_set_find(const file_set *s, const char *name) {
    for (size_t k = 0; k < s->n; k++)
        if (strcmp(s->item[k].name, name) == 0) return &s->item[k];
    return NULL;
}

void file_set_free(file_set *s) {
    for (size_t k = 0; k < s->n; k++) free(s->item[k].name), free(s->item[k].bytes);
    free(s->item);
    *s = (file_set){0};
}
