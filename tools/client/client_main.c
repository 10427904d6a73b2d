/* client_main.c: rvm-client, which `rvm COMMAND ... --server URL` becomes: opens the program here, so that what is wrong
 * with it is said as ever, uploads it, has the command done by the server, and prints and writes what that said and wrote.
 */
#include "base64.h"
#include "connection.h"
#include "gather.h"
#include "remote.h"

#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct client {
    tool t;
    connection at;
    json_t *answer; /* of the last request */
    file_set files; /* that the run takes along */
    char program[64];
    uint64_t most; /* bytes of a request */
    int exit;      /* status that the command had there */
} client;

/* ---- requests ---- */

/* A status by its name, as answers have it. */
static rvm_status named(const char *name, rvm_status otherwise) {
    for (rvm_status s = RVM_OK; name && s < RVM_ERR_INTERNAL; s++)
        if (strcmp(rvm_status_name(s), name) == 0) return s;
    return otherwise;
}

static rvm_status no_server(client *c) {
    return tool_fail(&c->t, RVM_ERR_IO, "what answers at %s is no server of rvm", c->at.shown);
}

/* Why the server did not do what it was asked. */
static rvm_status refused(client *c) {
    const json_t *error = json_object_get(c->answer, "error");
    const char *message = json_string_value(json_object_get(error, "message"));
    const char *name = json_string_value(json_object_get(error, "code"));
    char later[64] = "";
    if (c->at.code == 401)
        return tool_fail(&c->t, RVM_ERR_USAGE,
                         "%s asks for its token: it stands in the address that `rvm serve` prints, and is given there or in "
                         "$RVM_SERVER_TOKEN",
                         c->at.shown);
    if (!message) return no_server(c);
    if (c->at.retry_after) snprintf(later, sizeof later, "; it asks to come again in %u s", c->at.retry_after);
    const unsigned code = c->at.code;
    const rvm_status otherwise = code == 413 || code == 429 || code == 503 ? RVM_ERR_LIMIT
                                 : code == 400 || code == 403              ? RVM_ERR_USAGE
                                                                           : RVM_ERR_IO;
    return tool_fail(&c->t, named(name, otherwise), "%s: %s%s", c->at.shown, message, later);
}

/* The answer is JSON, an object; what it says is for who asks. */
static rvm_status ask(client *c, const char *method, const char *path, const char *type, const char *body, size_t size) {
    if (body && size > c->most)
        return tool_fail(&c->t, RVM_ERR_LIMIT, "what is to be sent has %zu bytes, and %s takes %llu (--upload of rvm serve)",
                         size, c->at.shown, (unsigned long long)c->most);
    json_decref(c->answer);
    c->answer = NULL;
    const rvm_status st = connection_ask(&c->at, method, path, type, body, size, &c->t.err);
    if (!st) c->answer = json_loadb(c->at.body ? c->at.body : "", c->at.size, 0, NULL);
    if (st || json_is_object(c->answer)) return st;
    return c->at.code == 401 ? refused(c) : no_server(c);
}

/* ---- the server, the program ---- */

static rvm_status meet(client *c) {
    rvm_status st = connection_open(&c->at, c->t.o.server, &c->t.err);
    if (!st) st = ask(c, "GET", "/api/v1", NULL, NULL, 0);
    if (st) return st;
    if (c->at.code != 200) return refused(c);
    const char *version = json_string_value(json_object_get(c->answer, "version"));
    const json_t *limits = json_object_get(c->answer, "limits");
    if (!version || !limits) return no_server(c);
    if (strcmp(version, RVM_VERSION_STRING) != 0)
        return tool_fail(&c->t, RVM_ERR_VERSION, "the server is rvm %.40s, this is rvm %s: results might differ", version,
                         RVM_VERSION_STRING);
    const bool native = json_is_true(json_object_get(c->answer, "native"));
    if (c->t.o.engine && strcmp(c->t.o.engine, "jit") == 0 && !native)
        return tool_fail(&c->t, RVM_ERR_USAGE, "--engine jit: the server interprets; `rvm serve --native` compiles");
    c->most = (uint64_t)json_integer_value(json_object_get(limits, "upload"));
    return RVM_OK;
}

/* "a b" as "a%20b" */
static void escape(const char *text, char *to) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    for (; *text; text++)
        if (strchr(plain, *text))
            *to++ = *text;
        else
            to += sprintf(to, "%%%02x", (unsigned char)*text);
    *to = 0;
}

static rvm_status upload_program(client *c) {
    upload u = {0};
    char name[3 * 200 + 1], path[800];
    rvm_status st = gather_program(&c->t, &u, &c->files);
    if (st) goto done;
    escape(u.name, name);
    snprintf(path, sizeof path, "/api/v1/programs?name=%s%s%s", name, u.real ? "&real=" : "", u.real ? u.real : "");
    st = ask(c, "POST", path, u.type ? u.type : "application/octet-stream", u.body, u.size);
    if (st) goto done;
    const char *id = json_string_value(json_object_get(c->answer, "id"));
    if (!id)
        st = refused(c);
    else if (strlen(id) >= sizeof c->program)
        st = no_server(c);
    else
        strcpy(c->program, id);
done:
    gather_free(&u);
    return st;
}

/* ---- the run ---- */

static void pause_shortly(void) {
    const struct timespec t = {.tv_nsec = 50000000};
    nanosleep(&t, NULL); /* a signal ends it */
}

/* Asks after a run that takes long until it has ended; shows how far it is; ends it where the user does. */
static rvm_status follow(client *c) {
    progress *p = &c->t.progress;
    char path[64];
    bool ended = false;
    rvm_status st = RVM_OK;
    snprintf(path, sizeof path, "/api/v1/runs/%lld", (long long)json_integer_value(json_object_get(c->answer, "id")));
    while (!st && json_object_get(c->answer, "state")) {
        const json_t *share = json_object_get(c->answer, "share");
        progress_show(p, (uint64_t)json_integer_value(json_object_get(c->answer, "instructions")),
                      json_is_number(share) ? json_number_value(share) : -1);
        const bool end = progress_interrupted() && !ended;
        if (!end) pause_shortly();
        st = ask(c, end ? "DELETE" : "GET", path, NULL, NULL, 0);
        if (end && !st && c->at.code == 403)
            return tool_fail(&c->t, RVM_ERR_CANCELLED, "interrupted; the server does not let its runs be ended");
        if (end && !st && c->at.code != 202) /* it had ended just before */
            return tool_fail(&c->t, RVM_ERR_CANCELLED, "interrupted");
        ended |= end;
    }
    return st;
}

static rvm_status run(client *c) {
    char *body = NULL;
    size_t size = 0;
    rvm_status st = gather_files(&c->t, &c->files, c->most);
    if (!st) st = gather_run(&c->t, c->program, &c->files, &body, &size);
    progress_begin(&c->t.progress, NULL);
    if (!st) st = ask(c, "POST", "/api/v1/runs", "application/json", body, size);
    if (!st) st = follow(c);
    progress_end(&c->t.progress);
    free(body);
    if (st) return st;
    return json_is_integer(json_object_get(c->answer, "exit")) ? RVM_OK : refused(c);
}

/* ---- what it said and wrote ---- */

/* Of one stream's piece: text, or bytes by base64. with: or NULL; it has what was told here of the object that begins. */
static void print_piece(const json_t *piece, const json_t *said, const tool *with, FILE *out) {
    const char *text = json_string_value(said);
    size_t size = json_string_length(said);
    char *bytes = text && json_is_true(json_object_get(piece, "base64")) ? base64_decode(text, &size) : NULL;
    if (text && with && !bytes)
        tool_json_pass(with, text, size, out);
    else if (text)
        fwrite(bytes ? bytes : text, 1, size, out);
    free(bytes);
    fflush(out);
}

static void print(const client *c) {
    size_t k;
    json_t *piece;
    const tool *with = c->t.o.json ? &c->t : NULL;
    json_array_foreach(json_object_get(c->answer, "output"), k, piece) {
        const json_t *out = json_object_get(piece, "stdout");
        print_piece(piece, out, with, stdout);
        print_piece(piece, json_object_get(piece, "stderr"), NULL, stderr);
        if (out) with = NULL;
    }
}

/* Of the files that the command was asked to write; others are none of the server's business. */
static rvm_status write_file(void *userdata, const char *path) {
    client *c = userdata;
    const char *text = json_string_value(json_object_get(json_object_get(c->answer, "files"), path));
    size_t size;
    char *bytes = text ? base64_decode(text, &size) : NULL;
    rvm_status st = RVM_OK;
    if (text && !bytes) st = no_server(c);
    if (bytes) st = files_write(&c->t, path, bytes, size);
    free(bytes);
    return st;
}

static rvm_status tell(client *c) {
    const rvm_status st = files_each_output(&c->t, write_file, c);
    c->exit = (int)json_integer_value(json_object_get(c->answer, "exit"));
    if (!st || !c->t.o.json) print(c); /* there is one object, and it says what failed */
    return st;
}

static rvm_status do_all(client *c) {
    tool *t = &c->t;
    rvm_status st = remote_check(t);
    if (!st) st = files_check(t);
    if (!st) st = tool_open(t);
    if (!st) st = meet(c);
    if (!st) st = upload_program(c);
    if (!st) st = run(c);
    return st ? st : tell(c);
}

int main(int argc, char **argv) {
    client c = {.at.fd = -1};
    const char *near;
    static char rvm[] = "rvm";
    int first;
    bool idle;
    const int command = argc > 0 ? command_find(rvm, argv[0], &near) : -1;
    if (command < 0) return fprintf(stderr, "rvm-client: it is started by `rvm COMMAND --server`\n"), 2;
    c.t.command = (command_id)command, c.t.argv = argv;
    rvm_status st = cli_parse(c.t.command, argc, argv, &c.t.o, &first, &c.t.err);
    c.t.words = argv + first, c.t.nwords = argc - first;
    if (!st && !c.t.o.server) st = tool_fail(&c.t, RVM_ERR_USAGE, "--server URL is missing");
    if (!st) st = do_all(&c);
    const int status = tool_end(&c.t, st, &idle);
    connection_close(&c.at);
    json_decref(c.answer);
    file_set_free(&c.files);
    if (fflush(stdout) || ferror(stdout)) {
        fputs("cannot write to standard output\n", stderr);
        return rvm_status_exit(RVM_ERR_IO);
    }
    return st ? status : c.exit;
}
