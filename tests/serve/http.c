/* http.c: requests that are not as they should be, and routes without the right to them: serve_http RVM. */
#include "page_files.h"
#include "transcript.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- every route, by who may not ask ---- */

static const struct route {
    const char *method, *path;
    bool open;
} routes[] = {
#define OPEN                                                 true
#define READ                                                 false
#define WRITE                                                false
#define ROUTE(id, method, path, access, handler, query, doc) {method, path, access},
#include "routes.def"
};

static const struct stranger {
    const char *name, *headers;
    unsigned code;
    bool is_token; /* it is about the token, which an open route does not need */
} strangers[] = {
    {"no token", "Host: 127.0.0.1:%P\r\n", 401, true},
    {"wrong token", "Host: 127.0.0.1:%P\r\nAuthorization: Bearer AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n", 401,
     true},
    {"half a token", "Host: 127.0.0.1:%P\r\nAuthorization: Bearer %H\r\n", 401, true},
    {"a token of another scheme", "Host: 127.0.0.1:%P\r\nAuthorization: Basic %T\r\n", 401, true},
    {"a token in the query", "Host: 127.0.0.1:%P\r\nCookie: token=%T\r\n", 401, true},
    {"a foreign host", "Host: evil.example:%P\r\nAuthorization: Bearer %T\r\n", 403, false},
    {"a host without its port", "Host: 127.0.0.1\r\nAuthorization: Bearer %T\r\n", 403, false},
    {"a foreign origin", "Host: 127.0.0.1:%P\r\nAuthorization: Bearer %T\r\nOrigin: http://evil.example\r\n", 403, false},
    {"the origin null", "Host: 127.0.0.1:%P\r\nAuthorization: Bearer %T\r\nOrigin: null\r\n", 403, false},
};

static void try_stranger(const served *s, const struct route *r, const struct stranger *who) {
    char form[512], name[200];
    snprintf(form, sizeof form, "%s %s HTTP/1.1\r\n%s\r\n", r->method, r->path, who->headers);
    snprintf(name, sizeof name, "%s %s: %s", r->method, r->path, who->name);
    char *text = request_of(s, form);
    told t = tell(s, text, strlen(text), 1, false);
    const unsigned served_openly = page_is_whole || strcmp(r->path, "/") == 0 ? 200 : 404;
    expect(t.code == (r->open && who->is_token ? served_openly : who->code), name, &t, who->code, NULL);
    expect(!strstr(t.text, "Access-Control"), "no CORS", &t, who->code, NULL);
    told_free(&t);
    free(text);
}

static void test_strangers(const served *s) {
    for (size_t r = 0; r < sizeof routes / sizeof *routes; r++)
        for (size_t k = 0; k < sizeof strangers / sizeof *strangers; k++) try_stranger(s, &routes[r], &strangers[k]);
}

/* ---- requests that are damaged, or read in two ways ---- */

#define HEAD "Host: 127.0.0.1:%P\r\nAuthorization: Bearer %T\r\n"
static const struct damaged {
    const char *name, *form;
    unsigned code; /* 0: closed without an answer, or 400 */
} damaged[] = {
    {"two lengths", "POST /api/v1/programs HTTP/1.1\r\n" HEAD "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400},
    {"two equal lengths", "POST /api/v1/programs HTTP/1.1\r\n" HEAD "Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
     400},
    {"a length and chunks",
     "POST /api/v1/programs HTTP/1.1\r\n" HEAD "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
    {"chunks and a length",
     "POST /api/v1/programs HTTP/1.1\r\n" HEAD "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n", 400},
    {"two encodings",
     "POST /api/v1/programs HTTP/1.1\r\n" HEAD "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
     400},
    {"an encoding that is none", "POST /api/v1/programs HTTP/1.1\r\n" HEAD "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
     501},
    {"a negative length", "POST /api/v1/programs HTTP/1.1\r\n" HEAD "Content-Length: -1\r\n\r\n", 0},
    {"a length that is none", "POST /api/v1/programs HTTP/1.1\r\n" HEAD "Content-Length: x\r\n\r\n", 0},
    {"4 GiB announced", "POST /api/v1/programs HTTP/1.1\r\n" HEAD "Content-Length: 4294967296\r\n\r\n", 413},
    {"2^64 announced", "POST /api/v1/programs HTTP/1.1\r\n" HEAD "Content-Length: 18446744073709551616\r\n\r\n", 0},
    {"a compressed body",
     "POST /api/v1/programs HTTP/1.1\r\n" HEAD "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b", 415},
    {"no host", "GET /healthz HTTP/1.1\r\nAuthorization: Bearer %T\r\n\r\n", 0},
    {"two hosts", "GET /healthz HTTP/1.1\r\n" HEAD "Host: 127.0.0.1:%P\r\n\r\n", 400},
    {"no such route", "GET /api/v1/nothing HTTP/1.1\r\n" HEAD "\r\n", 404},
    {"out of the folder", "GET /../../etc/passwd HTTP/1.1\r\n" HEAD "\r\n", 404},
    {"another method", "PATCH /api/v1/programs HTTP/1.1\r\n" HEAD "\r\n", 405},
    {"options", "OPTIONS /api/v1/programs HTTP/1.1\r\n" HEAD "\r\n", 405},
    {"no request", "\x16\x03\x01\x02\x01\x01\x01\xfc\x03\x03\r\n\r\n", 0},
    {"an endless word", "GET /%s HTTP/1.1\r\n" HEAD "\r\n", 404},
    {"an empty upload", "POST /api/v1/programs HTTP/1.1\r\n" HEAD "Content-Length: 0\r\n\r\n", 400},
    {"expectations", "POST /api/v1/programs HTTP/1.1\r\n" HEAD "Expect: 100-continue\r\nContent-Length: 3\r\n\r\nfn\n", 400},
};

static void test_damaged(const served *s) {
    for (size_t k = 0; k < sizeof damaged / sizeof *damaged; k++) {
        const struct damaged *d = &damaged[k];
        char *text = request_of(s, d->form);
        told t = tell(s, text, strlen(text), 1, false);
        expect(d->code ? t.code == d->code : t.code == 0 || t.code >= 400, d->name, &t, d->code, NULL);
        if (strstr(d->name, "length") && d->code) expect(strstr(t.text, "one length"), d->name, &t, d->code, "one length");
        told_free(&t);
        free(text);
    }
}

/* ---- bodies in pieces ---- */

static void test_chunks(const served *s) {
    char *text = request_of(s, "POST /api/v1/programs HTTP/1.1\r\n" HEAD "Transfer-Encoding: chunked\r\n\r\n"
                               "10\r\nfn f(x: real)\n  \r\n9\r\n  x += 1\n\r\n4\r\nend\n\r\n0\r\n\r\n");
    told t = tell(s, text, strlen(text), 1, false);
    expect(t.code == 201, "chunks", &t, 201, NULL);
    told_free(&t);
    free(text);
}

/* Chunks without end: cut off, or told that it is too much. */
static void test_too_much(const served *s) {
    enum { SIZE = 24 << 20 };
    char *bytes = malloc(SIZE),
         *head = request_of(s, "POST /api/v1/programs HTTP/1.1\r\n" HEAD "Transfer-Encoding: chunked\r\n\r\n2000000\r\n");
    const size_t n = strlen(head);
    memset(bytes, 'a', SIZE);
    memcpy(bytes, head, n);
    told t = tell(s, bytes, SIZE, 1, false);
    expect(t.code == 413 || t.code == 0, "too much", &t, 413, NULL);
    told_free(&t);
    free(bytes), free(head);
}

/* Several requests at once are answered in turn; of what comes behind one that is refused nothing is. */
static void test_pipelining(const served *s) {
    char *text = request_of(
        s, "GET /healthz HTTP/1.1\r\n" HEAD "\r\nPOST /api/v1/programs HTTP/1.1\r\n" HEAD
           "Content-Length: 34\r\n\r\nfn f(x: real)\n    x += 3\nend\n#####GET /api/v1/programs HTTP/1.1\r\n" HEAD "\r\n");
    told t = tell(s, text, strlen(text), 3, false);
    expect(t.answers == 3 && strstr(t.text, "201 Created") && strstr(t.text, "\"programs\""), "pipelining", &t, 200,
           "three answers");
    told_free(&t);
    free(text);
    text = request_of(s, "POST /api/v1/programs HTTP/1.1\r\n" HEAD "Content-Length: 60\r\nTransfer-Encoding: chunked\r\n\r\n"
                         "0\r\n\r\nGET /api/v1/programs HTTP/1.1\r\n" HEAD "\r\n");
    t = tell(s, text, strlen(text), 2, false);
    expect(t.code == 400 && t.answers == 1, "smuggling", &t, 400, "one answer");
    told_free(&t);
    free(text);
}

/* Uploads that are cut off, at every byte; then the server is there as before. */
static void test_cuts(const served *s) {
    char *text = request_of(s, "POST /api/v1/programs HTTP/1.1\r\n" HEAD
                               "Content-Length: 28\r\n\r\nfn f(x: real)\n    x += 2\nend\n");
    const size_t size = strlen(text);
    for (size_t n = 1; n < size; n += 3) {
        client c = {0};
        if (!client_connect(&c, s->port)) abort();
        if (write(c.fd, text, n) < 0 && errno != EAGAIN) abort();
        close(c.fd);
    }
    free(text);
    expect_told("after cuts", ask(s, "GET", "/healthz", NULL, NULL), 200, "\"workers\":2");
}

/* Many that say nothing do not keep others waiting. */
static void test_silent(const served *s) {
    enum { MANY = 1000 };
    client *many = calloc(MANY, sizeof *many);
    for (int k = 0; k < MANY; k++) {
        if (!client_connect(&many[k], s->port)) abort();
        if (write(many[k].fd, "POST /api", 9) < 0) abort();
    }
    const double begun = now();
    told t = ask(s, "GET", "/healthz", NULL, NULL);
    expect(t.code == 200 && now() - begun < 3, "beside silent clients", &t, 200, NULL);
    told_free(&t);
    for (int k = 0; k < MANY; k++) close(many[k].fd);
    free(many);
}

static void test_headers(const served *s) {
    static const char *const wanted[] = {"default-src 'self'", "frame-ancestors 'none'", "nosniff", "no-referrer",
                                         "no-store"};
    told t = ask(s, "GET", "/api/v1", NULL, NULL);
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
        expect(strstr(t.text, wanted[k]), "headers", &t, 200, wanted[k]);
    told_free(&t);
}

/* The page's files may be kept, and are asked for again by their hash. */
static void test_page(const served *s) {
    char again[200], etag[64] = "";
    told t = ask(s, "GET", "/", NULL, NULL);
    const char *at = strstr(t.text, "ETag: ");
    expect(t.code == 200 && at && strstr(t.text, "default-src 'self'") && strstr(t.text, "no-cache") &&
               strstr(t.text, "<title>rvm"),
           "the page", &t, 200, "<title>rvm");
    expect(!strstr(t.text, s->token), "the page has no token", &t, 200, NULL);
    if (at) snprintf(etag, sizeof etag, "%.*s", (int)strcspn(at + 6, "\r"), at + 6);
    told_free(&t);
    snprintf(again, sizeof again, "If-None-Match: W/\"x\", %s\r\n", etag);
    expect_told("the page again", ask(s, "GET", "/", again, NULL), 304, NULL);
    if (!page_is_whole) return;
    expect_told("its program, gzipped", ask(s, "GET", "/page.js", "Accept-Encoding: br, gzip\r\n", NULL), 200,
                "Content-Encoding: gzip");
    t = ask(s, "GET", "/page.js", NULL, NULL);
    expect(t.code == 200 && !strstr(t.text, "Content-Encoding") && strstr(t.text, "/api/v1"), "its program, plain", &t, 200,
           NULL);
    told_free(&t);
}

/* A page of an origin that is allowed may ask, with the token; others still may not. */
static void test_origins(const char *rvm) {
    static const char *const options[] = {"--workers",   "1", "--allow-origin", "https://good.example", "--host",
                                          "rvm.example", NULL};
    static const char good[] = "Access-Control-Allow-Origin: https://good.example\r\n";
    served s;
    if (!served_start(&s, rvm, options)) abort();
    char *text = request_of(&s, "OPTIONS /api/v1/runs HTTP/1.1\r\nHost: rvm.example\r\nOrigin: https://good.example\r\n"
                                "Access-Control-Request-Method: POST\r\n\r\n");
    expect_told("a preflight", tell(&s, text, strlen(text), 1, false), 204, good);
    free(text);
    expect_told("an allowed origin", ask(&s, "GET", "/api/v1", "Origin: https://good.example\r\n", NULL), 200, good);
    expect_told("another", ask(&s, "GET", "/healthz", "Origin: https://evil.example\r\n", NULL), 403, "ORIGIN");
    served_stop(&s);
}

int main(int argc, char **argv) {
    static const char *const options[] = {"--workers", "2", NULL};
    served s;
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2 || !served_start(&s, argv[1], options)) return printf("the server does not start\n"), 1;
    test_strangers(&s);
    test_damaged(&s);
    test_headers(&s);
    test_page(&s);
    test_chunks(&s);
    test_too_much(&s);
    test_pipelining(&s);
    test_cuts(&s);
    test_silent(&s);
    served_stop(&s);
    test_origins(argv[1]);
    printf("%u failures\n", failures);
    return failures > 0;
}
