#include "connection.h"
#include "errors.h"
#include "http_answer.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { SILENCE_S = 60, HEAD_LONGEST = 1 << 16, BODY_LONGEST = 1 << 30 };

/* ---- where it is ---- */

/* From a URL's part of `length` letters; false: it does not fit, or is empty. */
static bool take(char *to, size_t size, const char *from, size_t length) {
    if (!length || length >= size) return false;
    memcpy(to, from, length);
    to[length] = 0;
    return true;
}

static bool read_address(connection *c, const char *at, size_t length) {
    if (length && at[length - 1] == '/') length--;
    const char *end = at + length, *port = memrchr(at, ':', length), *bracket = memrchr(at, ']', length);
    if (memchr(at, '/', length)) return false;
    if (port && bracket && port < bracket) port = NULL;
    strcpy(c->port, "80");
    if (port && !take(c->port, sizeof c->port, port + 1, (size_t)(end - port - 1))) return false;
    return take(c->host, sizeof c->host, at, (size_t)((port ? port : end) - at));
}

static rvm_status read_url(connection *c, const char *url, rvm_error *err) {
    static const char http[] = "http://", local[] = "unix:", mark[] = "#token=";
    const char *token = strchr(url, '#'), *from_environment = getenv("RVM_SERVER_TOKEN");
    const size_t length = token ? (size_t)(token - url) : strlen(url);
    bool good = false;
    snprintf(c->shown, sizeof c->shown, "%.*s", (int)length, url);
    if (strncmp(url, "https:", 6) == 0)
        return fail(err, RVM_ERR_USAGE, NULL, "--server %s: this client speaks no TLS: give an address behind a tunnel",
                    c->shown);
    if (strncmp(url, http, sizeof http - 1) == 0)
        good = read_address(c, url + sizeof http - 1, length - (sizeof http - 1));
    else if (strncmp(url, local, sizeof local - 1) == 0)
        good = take(c->path, sizeof c->path, url + sizeof local - 1, length - (sizeof local - 1));
    if (token && strncmp(token, mark, sizeof mark - 1) == 0)
        good = good && take(c->token, sizeof c->token, token + sizeof mark - 1, strlen(token + sizeof mark - 1));
    else if (!token && from_environment)
        good = good && snprintf(c->token, sizeof c->token, "%s", from_environment) < (int)sizeof c->token;
    if (good && !token == !strchr(url, '#') && !strpbrk(c->token, "\r\n")) return RVM_OK;
    return fail(err, RVM_ERR_USAGE, NULL,
                "--server %s: http://HOST:PORT/#token=TOKEN, as `rvm serve` prints it, or unix:PATH#token=TOKEN is expected",
                c->shown);
}

/* ---- the connection ---- */

static bool connect_to(connection *c, const struct sockaddr *to, socklen_t size, int family) {
    const struct timeval silence = {.tv_sec = SILENCE_S};
    const int on = 1;
    c->fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0) return false;
    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof silence);
    setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &silence, sizeof silence);
    if (family != AF_UNIX) setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (!connect(c->fd, to, size)) return true;
    const int why = errno;
    close(c->fd);
    c->fd = -1;
    errno = why;
    return false;
}

static rvm_status connect_unix(connection *c, rvm_error *err) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    strcpy(at.sun_path, c->path);
    strcpy(c->host, "localhost"), strcpy(c->port, "80");
    if (connect_to(c, (const struct sockaddr *)&at, sizeof at, AF_UNIX)) return RVM_OK;
    return fail(err, RVM_ERR_IO, NULL, "no server at %s: %s", c->shown, strerror(errno));
}

static rvm_status connect_tcp(connection *c, rvm_error *err) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char bare[sizeof c->host];
    const bool six = c->host[0] == '[';
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(c->host + six, "]"), c->host + six);
    const int rc = getaddrinfo(bare, c->port, &hints, &found);
    if (rc) return fail(err, RVM_ERR_IO, NULL, "no server at %s: %s", c->shown, gai_strerror(rc));
    bool good = false;
    for (const struct addrinfo *a = found; a && !good; a = a->ai_next)
        good = connect_to(c, a->ai_addr, a->ai_addrlen, a->ai_family);
    if (!good) fail(err, RVM_ERR_IO, NULL, "no server at %s: %s", c->shown, strerror(errno));
    freeaddrinfo(found);
    return good ? RVM_OK : RVM_ERR_IO;
}

rvm_status connection_open(connection *c, const char *url, rvm_error *err) {
    *c = (connection){.fd = -1};
    const rvm_status st = read_url(c, url, err);
    if (st) return st;
    return *c->path ? connect_unix(c, err) : connect_tcp(c, err);
}

void connection_close(connection *c) {
    if (c->fd >= 0) close(c->fd);
    free(c->body);
    *c = (connection){.fd = -1};
}

/* ---- a request ---- */

static rvm_status lost(const connection *c, rvm_error *err) {
    const bool late = errno == EAGAIN || errno == EWOULDBLOCK;
    if (late) return fail(err, RVM_ERR_IO, NULL, "%s has been silent for %d s", c->shown, SILENCE_S);
    return fail(err, RVM_ERR_IO, NULL, "the connection to %s is lost%s%s", c->shown, errno ? ": " : "",
                errno ? strerror(errno) : "");
}

static rvm_status send_all(const connection *c, const char *bytes, size_t size, rvm_error *err) {
    for (size_t sent = 0; sent < size;) {
        const ssize_t n = send(c->fd, bytes + sent, size - sent, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) return lost(c, err);
        if (n > 0) sent += (size_t)n;
    }
    return RVM_OK;
}

/* *n: how many came, at most size; at least one. */
static rvm_status receive(const connection *c, char *to, size_t size, size_t *n, rvm_error *err) {
    ssize_t got;
    do got = recv(c->fd, to, size, 0);
    while (got < 0 && errno == EINTR);
    if (got == 0) errno = 0;
    if (got <= 0) return lost(c, err);
    *n = (size_t)got;
    return RVM_OK;
}

static rvm_status no_http(const connection *c, rvm_error *err) {
    return fail(err, RVM_ERR_IO, NULL, "what answers at %s is no server of rvm", c->shown);
}

/* The head, and what came behind it: *got bytes in all. */
static rvm_status receive_head(const connection *c, char text[HEAD_LONGEST], http_answer *a, size_t *got, rvm_error *err) {
    for (int state = 0; !state;) {
        size_t n = 0;
        if (*got == HEAD_LONGEST - 1) return no_http(c, err);
        const rvm_status st = receive(c, text + *got, HEAD_LONGEST - 1 - *got, &n, err);
        if (st) return st;
        text[ *got += n] = 0;
        if ((state = http_answer_read(a, text)) < 0) return no_http(c, err);
    }
    return RVM_OK;
}

static rvm_status receive_answer(connection *c, char text[HEAD_LONGEST], rvm_error *err) {
    http_answer a;
    size_t got = 0, n = 0;
    rvm_status st = receive_head(c, text, &a, &got, err);
    if (st) return st;
    got -= a.head;
    c->code = a.code, c->retry_after = a.retry_after;
    if (a.body_size > BODY_LONGEST || got > a.body_size) return no_http(c, err);
    if (!(c->body = malloc((size_t)a.body_size + 1))) return fail(err, RVM_ERR_MEMORY, NULL, "out of memory");
    if (got) memcpy(c->body, text + a.head, got);
    while (!st && got < a.body_size) {
        st = receive(c, c->body + got, (size_t)a.body_size - got, &n, err);
        if (!st) got += n;
    }
    c->body[got] = 0, c->size = got;
    return st;
}

rvm_status connection_ask(connection *c, const char *method, const char *path, const char *type, const char *body,
                          size_t size, rvm_error *err) {
    char *head = malloc(HEAD_LONGEST);
    free(c->body);
    c->body = NULL, c->size = 0, c->code = 0;
    if (!head) return fail(err, RVM_ERR_MEMORY, NULL, "out of memory");
    const bool usual = strcmp(c->port, "80") == 0; /* then it is not named, and a Unix socket has none */
    const int n = snprintf(head, HEAD_LONGEST,
                           "%s %s HTTP/1.1\r\nHost: %s%s%s\r\n%s%s%sContent-Type: %s\r\nContent-Length: %zu\r\n\r\n", method,
                           path, c->host, usual ? "" : ":", usual ? "" : c->port, *c->token ? "Authorization: Bearer " : "",
                           c->token, *c->token ? "\r\n" : "", type ? type : "application/json", body ? size : 0);
    rvm_status st = send_all(c, head, (size_t)n, err);
    const bool half_way = !st && body && send_all(c, body, size, err); /* the answer says why, if there is one */
    if (!st) st = receive_answer(c, head, err);
    (void)half_way;
    free(head);
    return st;
}
