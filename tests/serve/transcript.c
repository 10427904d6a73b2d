#include "transcript.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

unsigned failures;

/* Whole answers in what came: a head, and as much as it says. */
static unsigned count_answers(told *t) {
    const char *at = t->text, *end = t->text + t->size;
    unsigned n = 0;
    while (at < end && strncmp(at, "HTTP/1.", 7) == 0) {
        const char *head = strstr(at, "\r\n\r\n");
        if (!head) break;
        const char *length = strstr(at, "Content-Length: ");
        const size_t size = length && length < head ? strtoul(length + 16, NULL, 10) : 0;
        const bool is_interim = strncmp(at + 9, "100", 3) == 0;
        if (!is_interim && !n) t->code = (unsigned)strtoul(at + 9, NULL, 10), t->body = head + 4;
        at = head + 4 + size;
        if (at > end) break;
        n += !is_interim;
    }
    return n;
}

static bool send_all(int fd, const char *bytes, size_t size) {
    while (size) {
        struct pollfd p = {fd, POLLOUT, 0};
        const ssize_t n = send(fd, bytes, size, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN) return false;
        if (n > 0) bytes += n, size -= (size_t)n;
        if (n < 0 && poll(&p, 1, 5000) <= 0) return false;
    }
    return true;
}

told tell(const served *s, const char *bytes, size_t size, unsigned answers, bool half) {
    enum { ROOM = 1 << 22 };
    client *c = calloc(1, sizeof *c);
    told t = {.text = calloc(1, ROOM + 1)};
    const double until = now() + 10;
    if (!c || !t.text || !client_connect(c, s->port)) abort();
    send_all(c->fd, bytes, size);
    if (half) shutdown(c->fd, SHUT_WR);
    while (t.size < ROOM && now() < until && t.answers < answers) {
        struct pollfd p = {c->fd, POLLIN, 0};
        if (poll(&p, 1, 100) == 0) continue;
        const ssize_t n = recv(c->fd, t.text + t.size, ROOM - t.size, 0);
        if (n < 0 && errno == EAGAIN) continue;
        if (n <= 0) break;
        t.size += (size_t)n;
        t.answers = count_answers(&t);
    }
    close(c->fd);
    free(c);
    return t;
}

void told_free(told *t) {
    free(t->text);
}

char *request_of(const served *s, const char *form) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (; *form; form++) {
        if (form[0] == '%' && form[1] == 'T')
            fputs(s->token, out), form++;
        else if (form[0] == '%' && form[1] == 'H')
            fprintf(out, "%.20s", s->token), form++;
        else if (form[0] == '%' && form[1] == 'P')
            fprintf(out, "%u", s->port), form++;
        else
            fputc(*form, out);
    }
    fclose(out);
    return text;
}

told ask(const served *s, const char *method, const char *path, const char *headers, const char *body) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nAuthorization: Bearer %s\r\n%s", method, path, s->port, s->token,
            headers ? headers : "");
    if (body) fprintf(out, "Content-Length: %zu\r\n", strlen(body));
    fprintf(out, "\r\n%s", body ? body : "");
    fclose(out);
    told t = tell(s, text, size, 1, false);
    free(text);
    return t;
}

void expect(bool good, const char *name, const told *t, unsigned code, const char *text) {
    if (good) return;
    failures++;
    printf("FAILED: %s: wanted %u and `%s`, got %u:\n%.600s\n", name, code, text ? text : "", t->code, t->text);
}

void expect_told(const char *name, told t, unsigned code, const char *text) {
    expect(t.code == code && (!text || strstr(t.text, text)), name, &t, code, text);
    told_free(&t);
}
