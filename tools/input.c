#include "input.h"
#include "errors.h"
#include "member.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

rvm_status input_open(input *in, const char *path, rvm_error *err) {
    const bool standard = strcmp(path, "-") == 0;
    struct stat st;
    *in = (input){.name = standard ? "<stdin>" : path};
    in->file = standard ? stdin : fopen(path, "rb");
    if (!in->file) return fail(err, RVM_ERR_IO, in->name, "cannot read: %s", strerror(errno));
    in->known = fstat(fileno(in->file), &st) == 0 && S_ISREG(st.st_mode) && !standard;
    if (in->known) in->left = (uint64_t)st.st_size;
    return RVM_OK;
}

void input_close(input *in) {
    if (in->file && in->file != stdin) fclose(in->file);
    in->file = NULL;
}

static size_t read_file(input *in, void *to, size_t n) {
    if (in->member) return member_read(in, to, n);
    const size_t got = fread(to, 1, n, in->file);
    in->left -= in->left < got ? in->left : got;
    return got;
}

size_t input_read(input *in, void *to, size_t n) {
    const size_t held = n < in->nheld ? n : in->nheld;
    memcpy(to, in->held, held);
    memmove(in->held, in->held + held, in->nheld -= held);
    return held + (n > held ? read_file(in, (char *)to + held, n - held) : 0);
}

size_t input_peek(input *in) {
    in->nheld = read_file(in, in->held, sizeof in->held);
    return in->nheld;
}

rvm_status input_status(const input *in, rvm_error *err) {
    if (in->member && !member_is_good(in))
        return fail(err, RVM_ERR_FORMAT, in->name, "is damaged: its bytes are not those that were packed");
    if (!ferror(in->file)) return RVM_OK;
    return fail(err, RVM_ERR_IO, in->name, "cannot read: %s", strerror(errno));
}

rvm_status input_whole(input *in, size_t most, char **text, size_t *size, rvm_error *err) {
    size_t room = 0, got;
    *text = NULL, *size = 0;
    do {
        room = room ? 2 * room : 1 << 12;
        char *grown = *size <= most ? realloc(*text, room + 1) : NULL;
        if (!grown) {
            free(*text);
            *text = NULL;
            if (*size <= most) return fail(err, RVM_ERR_MEMORY, in->name, "out of memory");
            return fail(err, RVM_ERR_LIMIT, in->name, "is longer than %zu bytes", most);
        }
        *text = grown;
        *size += got = input_read(in, *text + *size, room - *size);
    } while (*size == room && got);
    (*text)[*size] = 0;
    const rvm_status st = input_status(in, err);
    if (!st) return RVM_OK;
    free(*text);
    *text = NULL;
    return st;
}
