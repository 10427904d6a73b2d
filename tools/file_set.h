/* file_set.h: files in memory, by name: those that a command reads and writes for somebody on another machine. */
#ifndef RVM_TOOLS_FILE_SET_H
#define RVM_TOOLS_FILE_SET_H

#include <stdbool.h>
#include <stddef.h>

typedef struct file_set_item {
    char *name, *bytes; /* both from malloc; a 0 stands behind the bytes */
    size_t size;
    int error; /* errno: it cannot be read, and there are no bytes */
} file_set_item;

typedef struct file_set {
    file_set_item *item;
    size_t n, room;
} file_set;

/* Takes over bytes, from malloc, also where it fails, by false: no memory. Of several of one name the first counts. */
bool file_set_add(file_set *s, const char *name, char *bytes, size_t size);
bool file_set_add_copy(file_set *s, const char *name, const void *bytes, size_t size);
bool file_set_add_error(file_set *s, const char *name, int error);
const file_set_item *file_set_find(const file_set *s, const char *name); /* NULL: there is none */
void file_set_free(file_set *s);

#endif
