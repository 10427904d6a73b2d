#include "client.h"
#include "http_answer.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the server ---- */

static void exec_server(const char *rvm, const char *const *options, const char *store) {
    const char *argv[32] = {rvm, "serve", "--listen", "127.0.0.1:0", "--store", store, "--log", "error"};
    size_t n = 8;
    while (options && *options && n < 31) argv[n++] = *options++;
    argv[n] = NULL;
    execv(rvm, (char **)argv);
    _exit(127);
}

bool served_start(served *s, const char *rvm, const char *const *options) {
    int out[2];
    char store[96], line[256] = "";
    const double begun = now();
    strcpy(s->folder, "/tmp/rvm-serve-XXXXXX");
    if (!mkdtemp(s->folder) || pipe(out)) return false;
    snprintf(store, sizeof store, "%s/server.db", s->folder);
    s->pid = fork();
    if (s->pid == 0) {
        dup2(out[1], 1);
        close(out[0]), close(out[1]);
        exec_server(rvm, options, store);
    }
    close(out[1]);
    FILE *f = fdopen(out[0], "r");
    const bool good = s->pid > 0 && f && fgets(line, sizeof line, f) &&
                      sscanf(line, "http://127.0.0.1:%u/#token=%79s", &s->port, s->token) == 2;
    if (f) fclose(f);
    client *c = calloc(1, sizeof *c);
    int state = good && c && client_connect(c, s->port) ? 0 : -1;
    if (!state) client_request(c, s, "GET", "/healthz", NULL);
    while (!state) state = client_go(c);
    s->seconds = now() - begun;
    if (c) close(c->fd);
    free(c);
    return state > 0;
}

void served_stop(served *s) {
    char path[128];
    int status;
    static const char *const files[] = {"server.db", "server.db-wal", "server.db-shm"};
    if (s->pid > 0) kill(s->pid, SIGTERM), waitpid(s->pid, &status, 0);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        snprintf(path, sizeof path, "%s/%s", s->folder, files[k]);
        unlink(path);
    }
    rmdir(s->folder);
}

/* Of /proc/PID: its parent, its processor time; its memory. */
static bool read_process(pid_t pid, pid_t *parent, double *seconds, size_t *rss, size_t *pss) {
    char path[64], line[1024], *at;
    unsigned long user, system;
    int above;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (!f || !fgets(line, sizeof line, f) || !(at = strrchr(line, ')')) ||
        sscanf(at + 2, "%*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &above, &user, &system) != 3) {
        if (f) fclose(f);
        return false;
    }
    fclose(f);
    *parent = above;
    *seconds = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    f = fopen(path, "r");
    *rss = *pss = 0;
    while (f && fgets(line, sizeof line, f)) {
        sscanf(line, "Rss: %zu", rss);
        sscanf(line, "Pss: %zu", pss);
    }
    if (f) fclose(f);
    *rss *= 1024, *pss *= 1024;
    return true;
}

usage served_usage(const served *s) {
    usage u = {0};
    pid_t parent, of_parent;
    double seconds, unused;
    size_t rss, pss, r, p;
    struct dirent *e;
    DIR *all = opendir("/proc");
    if (read_process(s->pid, &parent, &u.server, &u.server_rss, &pss)) {}
    while (all && (e = readdir(all))) {
        const pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        if (pid <= 0 || !read_process(pid, &parent, &seconds, &rss, &pss)) continue;
        if (parent == s->pid || (read_process(parent, &of_parent, &unused, &r, &p) && of_parent == s->pid))
            u.workers += seconds, u.workers_pss += pss, u.nworkers += parent != s->pid;
    }
    if (all) closedir(all);
    return u;
}

/* ---- a client ---- */

bool client_connect(client *c, unsigned port) {
    const struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int on = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (const struct sockaddr *)&to, sizeof to)) return false;
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fcntl(c->fd, F_SETFL, O_NONBLOCK) == 0;
}

void client_request(client *c, const served *s, const char *method, const char *path, const char *body) {
    const size_t n = body ? strlen(body) : 0;
    c->size =
        (size_t)snprintf(c->out, sizeof c->out,
                         "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nAuthorization: Bearer %s\r\nContent-Length: %zu\r\n\r\n%s",
                         method, path, s->port, s->token, n, body ? body : "");
    c->sent = c->got = 0;
    c->begun = now();
}

/* 1: the answer is whole; 0: not yet; -1: it is none. */
static int take_answer(client *c) {
    http_answer a;
    c->in[c->got] = 0;
    const int state = http_answer_read(&a, c->in);
    if (state <= 0) return state;
    c->code = a.code;
    c->body = c->in + a.head;
    return c->got - a.head >= a.body_size;
}

int client_go(client *c) {
    while (c->sent < c->size) {
        const ssize_t n = send(c->fd, c->out + c->sent, c->size - c->sent, MSG_NOSIGNAL);
        if (n < 0) return errno == EAGAIN ? 0 : -1;
        c->sent += (size_t)n;
    }
    const ssize_t n = recv(c->fd, c->in + c->got, sizeof c->in - 1 - c->got, 0);
    if (n <= 0) return n < 0 && errno == EAGAIN ? 0 : -1;
    c->got += (size_t)n;
    return take_answer(c);
}

double client_take(client *c, const served *s, const char *method, const char *path, const char *body) {
    int state;
    client_request(c, s, method, path, body);
    while (!(state = client_go(c)) && now() < c->begun + 60) {
        struct pollfd wait = {.fd = c->fd, .events = (short)(c->sent < c->size ? POLLIN | POLLOUT : POLLIN)};
        poll(&wait, 1, 1000);
    }
    if (state <= 0 || c->code >= 400) {
        printf("%s %s: %u %s\n", method, path, state > 0 ? c->code : 0, state > 0 ? c->body : "no answer");
        exit(1);
    }
    return 1e3 * (now() - c->begun);
}

int client_by_time(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
