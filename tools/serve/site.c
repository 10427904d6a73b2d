#include "site.h"
#include "answer.h"
#include "input.h"
#include "page_files.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- files ---- */

static const page_file *find(const char *path) {
    for (size_t k = 0; k < page_files_count; k++)
        if (strcmp(page_files[k].path, path) == 0) return &page_files[k];
    return NULL;
}

/* Whether a header that is a list names it, or anything. */
static bool names(const char *list, const char *name) {
    return list && (strstr(list, name) || strcmp(list, "*") == 0);
}

static void answer_file(http_request *r, const page_file *f, char *bytes, size_t size, bool gzipped) {
    const char *const headers[] = {
        "Cache-Control", "no-cache", "ETag", f->etag, "Vary", "Accept-Encoding", gzipped ? "Content-Encoding" : NULL,
        "gzip",          NULL};
    if (bytes)
        http_answer(r, 200, f->type, bytes, size, headers);
    else
        answer_busy(r, "out of memory");
}

/* For who reads no gzip. NULL: no memory. */
static char *inflated(const page_file *f, size_t *size) {
    const unsigned char *end = f->bytes + f->size - 4; /* gzip ends with the length */
    z_stream z = {.next_in = (Bytef *)f->bytes, .avail_in = (uInt)f->size};
    *size = end[0] | (size_t)end[1] << 8 | (size_t)end[2] << 16 | (size_t)end[3] << 24;
    char *to = malloc(*size + 1);
    if (!to || inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) return free(to), NULL;
    z.next_out = (Bytef *)to, z.avail_out = (uInt)*size;
    const int rc = inflate(&z, Z_FINISH);
    inflateEnd(&z);
    if (rc != Z_STREAM_END) return free(to), NULL;
    return to;
}

static void answer_embedded(http_request *r, const page_file *f) {
    const char *const headers[] = {"Cache-Control", "no-cache", "ETag", f->etag, NULL};
    const bool gzipped = f->gzipped && names(http_header(r, "Accept-Encoding"), "gzip");
    size_t size = f->size;
    if (names(http_header(r, "If-None-Match"), f->etag)) return http_answer(r, 304, NULL, NULL, 0, headers);
    char *bytes = f->gzipped && !gzipped ? inflated(f, &size) : malloc(size + 1);
    if (bytes && (gzipped || !f->gzipped)) memcpy(bytes, f->bytes, size);
    answer_file(r, f, bytes, size, gzipped);
}

/* The path is that of a route, so it leads nowhere else. */
static void answer_from(http_request *r, const page_file *f, const char *folder) {
    enum { LARGEST = 1 << 24 };
    char path[4200], *bytes = NULL;
    size_t size = 0;
    input in;
    const page_file fresh = {.path = f->path, .type = f->type, .etag = "\"\""};
    snprintf(path, sizeof path, "%s%s", folder, strcmp(f->path, "/") == 0 ? "/index.html" : f->path);
    rvm_error err = {0};
    rvm_status st = input_open(&in, path, &err);
    if (!st) st = input_whole(&in, LARGEST, &bytes, &size, &err);
    if (st)
        answer_error(r, 404, "NOT_FOUND", "%s: %s", path, err.message);
    else
        answer_file(r, &fresh, bytes, size, false);
}

void site_file(server *s, http_request *r) {
    const page_file *f = find(r->path);
    if (!f)
        answer_error(r, 404, "NOT_FOUND", "this server was built without its page");
    else if (s->c.page)
        answer_from(r, f, s->c.page);
    else
        answer_embedded(r, f);
}

/* ---- what there is ---- */

static const char api[] = "/api/v1";
static const char *const routes[][2] = {
#define ROUTE(id, method, path, access, handler, query, doc) {method, path},
#include "routes.def"
};

static void add_about(json *j, const void *of) {
    const config *c = &((const server *)of)->c;
    json_key(j, "version"), json_text(j, RVM_VERSION_STRING);
    json_key(j, "read_only"), json_bool(j, c->read_only);
    json_key(j, "native"), json_bool(j, c->native);
    json_key(j, "limits"), json_open(j, '{');
    json_key(j, "fuel"), json_uint(j, c->limits.fuel);
    json_key(j, "memory"), json_uint(j, c->limits.memory);
    json_key(j, "seconds"), json_f64(j, c->limits.seconds);
    json_key(j, "upload"), json_uint(j, c->upload);
    json_close(j, '}');
    json_key(j, "routes"), json_open(j, '[');
    for (size_t k = 0; k < sizeof routes / sizeof *routes; k++) {
        if (strncmp(routes[k][1], api, sizeof api - 1) != 0) continue;
        json_open(j, '{');
        json_key(j, "method"), json_text(j, routes[k][0]);
        json_key(j, "path"), json_text(j, routes[k][1] + sizeof api - 1);
        json_close(j, '}');
    }
    json_close(j, ']');
}

void site_about(server *s, http_request *r) {
    answer_members(r, 200, add_about, s);
}
