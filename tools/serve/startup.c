#include "startup.h"
#include "input.h"
#include "programs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool make_folders(char *path) {
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = 0;
        const bool good = !mkdir(path, 0700) || errno == EEXIST;
        *at = '/';
        if (!good) return false;
    }
    return true;
}

bool store_default_path(char *path, size_t size) {
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (data && *data == '/')
        snprintf(path, size, "%s/rvm/server.db", data);
    else
        snprintf(path, size, "%s/.local/share/rvm/server.db", home ? home : "");
    return make_folders(path);
}

const char *library_folder(char *path, size_t size) {
    const ssize_t n = readlink("/proc/self/exe", path, size - 8);
    if (n <= 0) return NULL;
    path[n] = 0;
    for (int k = 0; k < 2; k++) {
        char *slash = strrchr(path, '/');
        if (slash) *slash = 0;
    }
    strcat(path, "/lib");
    return path;
}

typedef struct loading {
    server *s;
    char *path;
} loading;

static void loaded(void *userdata, const char *id, const char *text) {
    loading *l = userdata;
    json *j = log_begin(&l->s->log, id ? LOG_INFO : LOG_ERROR, "program");
    if (j) {
        json_key(j, "file"), json_text(j, l->path);
        json_key(j, id ? "id" : "message"), json_text(j, id ? id : text);
        log_end(&l->s->log);
    }
    free(l->path);
    free(l);
}

rvm_status load_file(server *s, tool *t, const char *path) {
    input in;
    char *text = NULL;
    size_t size;
    const char *slash = strrchr(path, '/');
    rvm_status st = input_open(&in, path, &t->err);
    if (st) return st;
    st = input_whole(&in, s->c.upload, &text, &size, &t->err);
    input_close(&in);
    loading *l = st ? NULL : malloc(sizeof *l);
    if (!l) return free(text), st;
    *l = (loading){s, strdup(path)};
    programs_load(s, slash ? slash + 1 : path, t->o.real ? t->o.real : "f64", text, size, loaded, l);
    return RVM_OK;
}
