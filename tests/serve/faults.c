/* faults.c: what becomes of requests where something dies: serve_faults RVM. */
#include "transcript.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char spin[] = "fn spin(k: i64, n: i64)\n    for i in 0..n\n        k += i\n    end\nend\n";

static pid_t parent_of(pid_t pid) {
    char path[64], line[512] = "";
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    const char *at = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    if (at) sscanf(at + 2, "%*c %d", &parent);
    if (f) fclose(f);
    return parent;
}

/* The workers: children of the server's child. */
static size_t workers_of(const served *s, pid_t *out, size_t most) {
    size_t n = 0;
    struct dirent *e;
    DIR *all = opendir("/proc");
    while (all && n < most && (e = readdir(all))) {
        const pid_t pid = (pid_t)strtol(e->d_name, NULL, 10), parent = pid > 0 ? parent_of(pid) : 0;
        if (parent > 1 && parent_of(parent) == s->pid) out[n++] = pid;
    }
    if (all) closedir(all);
    return n;
}

static void upload(const served *s, char id[40]) {
    told t = ask(s, "POST", "/api/v1/programs?name=spin.rasm", NULL, spin);
    const char *at = t.body ? strstr(t.body, "\"id\":\"") : NULL;
    snprintf(id, 40, "%.32s", at ? at + 6 : "");
    expect(at, "upload", &t, 201, NULL);
    told_free(&t);
}

static char *run_body(const char *id, const char *n) {
    static char body[300];
    snprintf(body, sizeof body, "{\"program\":\"%s\",\"args\":{\"k\":0,\"n\":%s}}", id, n);
    return body;
}

/* ---- workers that are killed ---- */

/* While they are idle, and while one runs: the request is answered by another worker. */
static void test_killed_workers(const served *s, const char *id) {
    pid_t pids[16];
    for (int round = 0; round < 3; round++) {
        const size_t n = workers_of(s, pids, 16);
        for (size_t k = 0; k < n; k++) kill(pids[k], SIGKILL);
        const double begun = now();
        expect_told("after all workers were killed", ask(s, "POST", "/api/v1/runs", NULL, run_body(id, "10")), 200,
                    "\"k\":45");
        printf("all %zu workers killed: a run is answered after %.1f ms\n", n, 1e3 * (now() - begun));
    }
}

/* Of one worker, so that the second is not killed, too. */
static void test_killed_run(const served *s, const char *id) {
    pid_t pids[16];
    client c = {0};
    if (!client_connect(&c, s->port)) abort();
    client_request(&c, s, "POST", "/api/v1/runs", run_body(id, "60000000"));
    int state = client_go(&c);
    usleep(100000);
    const size_t n = workers_of(s, pids, 16);
    for (size_t k = 0; k < n; k++) kill(pids[k], SIGKILL);
    for (const double until = now() + 20; !state && now() < until; usleep(1000)) state = client_go(&c);
    told t = {.text = c.in, .code = c.code};
    expect(state > 0 && (c.code == 200 || c.code == 202), "a run whose worker was killed", &t, 200, NULL);
    close(c.fd);
}

/* Whoever takes it dies: it is answered, with a number, and the server goes on. */
static void test_deadly_run(const served *s, const char *id) {
    pid_t pids[16];
    client c = {0};
    if (!client_connect(&c, s->port)) abort();
    client_request(&c, s, "POST", "/api/v1/runs", run_body(id, "300000000"));
    int state = client_go(&c);
    for (const double until = now() + 20; !state && now() < until; state = client_go(&c)) {
        usleep(20000);
        for (size_t k = workers_of(s, pids, 16); k-- > 0;) kill(pids[k], SIGKILL);
    }
    told t = {.text = c.in, .code = c.code};
    expect(state > 0 && c.code == 500 && strstr(c.in, "\"id\":"), "a run that kills its workers", &t, 500, "\"id\"");
    close(c.fd);
    expect_told("after it", ask(s, "POST", "/api/v1/runs", NULL, run_body(id, "10")), 200, "\"k\":45");
}

/* ---- the server is killed ---- */

/* Under load: each run that was answered is there when it comes again. */
static void test_killed_server(const char *rvm) {
    enum { CLIENTS = 50, MOST = 20000 };
    served s, again;
    static unsigned long answered[MOST];
    size_t n = 0;
    char id[40], store[128];
    if (!served_start(&s, rvm, NULL)) abort();
    upload(&s, id);
    client *c = calloc(CLIENTS, sizeof *c);
    for (int k = 0; k < CLIENTS; k++) {
        if (!client_connect(&c[k], s.port)) abort();
        client_request(&c[k], &s, "POST", "/api/v1/runs", run_body(id, "10"));
    }
    for (const double until = now() + 1; now() < until && n < MOST;)
        for (int k = 0; k < CLIENTS && n < MOST; k++) {
            if (client_go(&c[k]) <= 0) continue;
            if (c[k].code == 200) answered[n++] = strtoul(strstr(c[k].body, "\"id\":") + 5, NULL, 10);
            client_request(&c[k], &s, "POST", "/api/v1/runs", run_body(id, "10"));
        }
    kill(s.pid, SIGKILL);
    int status;
    waitpid(s.pid, &status, 0);
    for (int k = 0; k < CLIENTS; k++) close(c[k].fd);
    free(c);
    snprintf(store, sizeof store, "%s/server.db", s.folder);
    const char *const options[] = {"--store", store, NULL};
    if (!served_start(&again, rvm, options)) abort();
    struct stat file;
    if (stat(store, &file) || file.st_mode & 077) failures++, printf("FAILED: others may read the store\n");
    size_t missing = 0;
    for (size_t k = 0; k < n; k += n / 200 + 1) {
        char path[64];
        snprintf(path, sizeof path, "/api/v1/runs/%lu", answered[k]);
        told t = ask(&again, "GET", path, NULL, NULL);
        missing += t.code != 200;
        told_free(&t);
    }
    printf("%zu runs answered before the server was killed, %zu of those asked for missing\n", n, missing);
    failures += missing > 0 || !n;
    expect_told("the store after a kill", ask(&again, "GET", "/healthz", NULL, NULL), 200, "\"store\"");
    served_stop(&again);
    s.pid = 0;
    served_stop(&s);
}

/* ---- a full disk ---- */

/* Writing ends in 503, reading goes on; where a file system of one megabyte can be had. */
static void test_full(const char *rvm) {
    served s;
    char folder[] = "/tmp/rvm-full-XXXXXX", store[64], id[40];
    if (!mkdtemp(folder) || mount("none", folder, "tmpfs", 0, "size=1m")) {
        printf("skipped: no file system that is full: %s\n", strerror(errno));
        rmdir(folder);
        return;
    }
    snprintf(store, sizeof store, "%s/server.db", folder);
    const char *const options[] = {"--store", store, NULL};
    if (!served_start(&s, rvm, options)) abort();
    upload(&s, id);
    unsigned code = 200;
    char *body = malloc(200000);
    for (int k = 0; k < 100 && code == 200; k++) {
        const int n = snprintf(body, 200, "{\"program\":\"%s\",\"args\":{\"k\":%d,\"n\":10}}", id, k);
        memset(body + n, ' ', 50000), body[n + 50000] = 0;
        told t = ask(&s, "POST", "/api/v1/runs", NULL, body);
        code = t.code;
        if (code != 200) expect(code == 503 && strstr(t.text, "no room"), "a full disk", &t, 503, "no room");
        told_free(&t);
    }
    if (code == 200) failures++, printf("FAILED: the disk is never full\n");
    expect_told("reading from a full disk", ask(&s, "GET", "/api/v1/runs?limit=1", NULL, NULL), 200, "\"runs\"");
    free(body);
    served_stop(&s);
    umount(folder);
    rmdir(folder);
}

/* ---- what is in the file ---- */

static bool starts(const char *rvm, const char *store, const char *option, const char *value, served *s) {
    const char *const options[] = {"--store", store, option, value, NULL};
    return served_start(s, rvm, options);
}

static double store_bytes(const served *s) {
    told t = ask(s, "GET", "/metrics", NULL, NULL);
    const char *at = strstr(t.text, "\nrvm_store_bytes ");
    const double bytes = at ? strtod(at + 17, NULL) : -1;
    told_free(&t);
    return bytes;
}

/* More than may be kept: what is oldest goes, what is pinned stays. */
static void test_retention(const char *rvm, const char *store) {
    served s;
    char id[40], body[6000];
    if (!starts(rvm, store, NULL, NULL, &s)) abort();
    upload(&s, id);
    memset(body, ' ', sizeof body);
    memcpy(body, run_body(id, "10"), strlen(run_body(id, "10")));
    body[sizeof body - 1] = 0;
    for (int k = 0; k < 400; k++) {
        told t = ask(&s, "POST", "/api/v1/runs", NULL, body);
        told_free(&t);
    }
    expect_told("a pin", ask(&s, "PUT", "/api/v1/runs/1/pin", NULL, NULL), 200, NULL);
    served_stop(&s);
    if (!starts(rvm, store, "--keep-bytes", "1M", &s)) abort();
    for (int k = 0; k < 50 && !(store_bytes(&s) > 0); k++) usleep(100000);
    if (!(store_bytes(&s) > 0 && store_bytes(&s) < 1.1e6))
        failures++, printf("FAILED: %.0f bytes are kept\n", store_bytes(&s));
    expect_told("the oldest", ask(&s, "GET", "/api/v1/runs/2", NULL, NULL), 404, NULL);
    expect_told("the pinned", ask(&s, "GET", "/api/v1/runs/1", NULL, NULL), 200, NULL);
    expect_told("the newest", ask(&s, "GET", "/api/v1/runs/400", NULL, NULL), 200, NULL);
    served_stop(&s);
}

/* A file of a later version, and one that is none, are left as they are. */
static void test_other_files(const char *rvm, const char *store) {
    served s;
    FILE *f = fopen(store, "r+");
    if (!f || fseek(f, 60, SEEK_SET) || fwrite("\0\0\0\143", 1, 4, f) != 4 || fclose(f)) abort(); /* user_version */
    if (starts(rvm, store, NULL, NULL, &s)) failures++, printf("FAILED: a file of version 99 is opened\n");
    served_stop(&s);
    if (!(f = fopen(store, "w")) || fputs("not a database, but long enough to be looked at as if it were one", f) < 0 ||
        fclose(f))
        abort();
    if (starts(rvm, store, NULL, NULL, &s)) failures++, printf("FAILED: a file that is no database is opened\n");
    served_stop(&s);
}

static void test_files(const char *rvm) {
    char folder[] = "/tmp/rvm-store-XXXXXX", store[64];
    if (!mkdtemp(folder)) abort();
    snprintf(store, sizeof store, "%s/server.db", folder);
    test_retention(rvm, store);
    test_other_files(rvm, store);
    unlink(store);
    rmdir(folder);
}

/* ---- a server that takes nothing ---- */

static void test_read_only(const char *rvm, const char *program) {
    const char *const options[] = {"--read-only", program, "--store", "off", NULL};
    served s;
    char id[40], body[300];
    if (!served_start(&s, rvm, options)) abort();
    expect_told("no upload", ask(&s, "POST", "/api/v1/programs", NULL, spin), 403, "READ_ONLY");
    told t = ask(&s, "GET", "/api/v1/programs", NULL, NULL);
    for (int k = 0; k < 20 && !strstr(t.text, "norm.rasm"); k++)
        told_free(&t), usleep(50000), t = ask(&s, "GET", "/api/v1/programs", NULL, NULL);
    const char *at = strstr(t.text, "\"id\":\"");
    expect(at, "a program of the command line", &t, 200, "norm.rasm");
    snprintf(id, sizeof id, "%.32s", at ? at + 6 : "");
    told_free(&t);
    snprintf(body, sizeof body, "{\"program\":\"%s\",\"args\":{\"x\":[3,4]}}", id);
    expect_told("a run of it", ask(&s, "POST", "/api/v1/runs", NULL, body), 200, "\"out\":5");
    expect_told("no deletion", ask(&s, "DELETE", "/api/v1/runs/1", NULL, NULL), 403, "READ_ONLY");
    served_stop(&s);
}

int main(int argc, char **argv) {
    static const char *const options[] = {"--workers", "2", NULL};
    served s;
    char id[40];
    signal(SIGPIPE, SIG_IGN);
    if (argc < 3 || !served_start(&s, argv[1], options)) return printf("the server does not start\n"), 1;
    upload(&s, id);
    test_killed_workers(&s, id);
    served_stop(&s);
    static const char *const one[] = {"--workers", "1", NULL};
    if (!served_start(&s, argv[1], one)) abort();
    upload(&s, id);
    test_killed_run(&s, id);
    test_deadly_run(&s, id);
    served_stop(&s);
    test_killed_server(argv[1]);
    test_full(argv[1]);
    test_files(argv[1]);
    test_read_only(argv[1], argv[2]);
    printf("%u failures\n", failures);
    return failures > 0;
}
