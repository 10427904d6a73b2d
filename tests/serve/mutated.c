/* mutated.c: serve_mutated RVM PROGRAM.rasm [how many [seed]]: uploads and runs, damaged at random: sources, bytecode, JSON,
 * and the HTTP around them. The server answers all that can be answered, and is there afterwards. */
#include "transcript.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { KINDS = 5, MOST = 1 << 16 };

typedef struct sample {
    char *text; /* a whole request; what is damaged begins at `from` */
    size_t size, from;
} sample;

static uint64_t state;
static uint32_t noise(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static sample make(const served *s, const char *path, const void *body, size_t size, bool http) {
    sample x = {0};
    FILE *out = open_memstream(&x.text, &x.size);
    fprintf(out,
            "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nAuthorization: Bearer %s\r\nConnection: close\r\nContent-Length: "
            "%zu\r\n\r\n",
            path, s->port, s->token, size);
    fflush(out);
    x.from = http ? 0 : x.size;
    fwrite(body, 1, size, out);
    fclose(out);
    return x;
}

/* Some bytes changed, copied elsewhere, or left as they are. */
static void damage(char *bytes, size_t size) {
    static const char odd[] = "\0\377\"{}[]\\\n%:;+-*/'()#@&019.eE \r";
    for (uint32_t k = noise() % 6; size && k > 0; k--) {
        const size_t at = noise() % size;
        switch (noise() % 4) {
        case 0: bytes[at] = (char)noise(); break;
        case 1: bytes[at] = odd[noise() % (sizeof odd - 1)]; break;
        case 2: bytes[at] ^= (char)(1 << noise() % 8); break;
        default: {
            const size_t from = noise() % size, most = size - (from > at ? from : at), n = noise() % (most + 1);
            memmove(bytes + at, bytes + from, n);
        }
        }
    }
}

/* False: no answer to a request that is whole. */
static bool try_one(const served *s, const sample *x, unsigned codes[6]) {
    static char copy[MOST], in[4096];
    memcpy(copy, x->text, x->size);
    damage(copy + x->from, x->size - x->from);
    client c = {0};
    if (!client_connect(&c, s->port)) return false;
    ssize_t n = send(c.fd, copy, x->size, MSG_NOSIGNAL), got = 0;
    for (const double until = now() + (x->from ? 20 : 0.03); got >= 0 && now() < until;) {
        n = recv(c.fd, in + got, got < 64 ? sizeof in - 1 - (size_t)got : 0, 0);
        if (n > 0) got += n;
        if (n == 0 || got >= 64) break;
        if (n < 0) usleep(100);
    }
    close(c.fd);
    const unsigned code = got > 12 ? (unsigned)strtoul(in + 9, NULL, 10) / 100 : 0;
    const bool http = x->from == 0; /* 501, 505 are right answers to such */
    if (!http) codes[code < 6 ? code : 0]++;
    return code || http;
}

static char *bytecode_of(const served *s, const char *source, char id[40], size_t *size) {
    char path[128];
    told t = ask(s, "POST", "/api/v1/programs?name=norm.rasm", NULL, source);
    const char *at = t.body ? strstr(t.body, "\"id\":\"") : NULL;
    snprintf(id, 40, "%.32s", at ? at + 6 : "");
    told_free(&t);
    snprintf(path, sizeof path, "/api/v1/programs/%s/bytecode", id);
    t = ask(s, "GET", path, NULL, NULL);
    *size = t.body ? (size_t)(t.text + t.size - t.body) : 0;
    char *bytes = malloc(*size + 1);
    if (*size) memcpy(bytes, t.body, *size);
    told_free(&t);
    return bytes;
}

int main(int argc, char **argv) {
    static const char *const options[] = {"--workers", "2",   "--seconds",    "1",  "--fuel", "10M",
                                          "--memory",  "16M", "--keep-bytes", "4M", NULL};
    static char source[MOST], run[512], words[512];
    const long many = argc > 3 ? atol(argv[3]) : 1500;
    state = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
    unsigned codes[6] = {0}, unanswered = 0;
    size_t size;
    char id[40];
    served s;
    signal(SIGPIPE, SIG_IGN);
    FILE *f = argc > 2 ? fopen(argv[2], "r") : NULL;
    if (!f || !fread(source, 1, sizeof source - 1, f) || !served_start(&s, argv[1], options))
        return printf("the server does not start\n"), 1;
    fclose(f);
    char *bytes = bytecode_of(&s, source, id, &size);
    const int n = snprintf(run, sizeof run,
                           "{\"program\":\"%s\",\"kind\":\"grad\",\"of\":\"out\",\"args\":{\"x\":[3,4e0,\"1\"]},\"limits\":{"
                           "\"fuel\":1000},\"profile\":true}",
                           id);
    const int m = snprintf(words, sizeof words,
                           "{\"program\":\"%s\",\"kind\":\"grad\",\"words\":[\"--of=out\",\"--save-all=b.npz\","
                           "\"--json\",\"--\",\"a.rasm\",\"norm\",\"x=@a\"],\"files\":{\"a\":\"WzMsNF0=\",\"c\":2}}",
                           id);
    const sample samples[KINDS] = {
        make(&s, "/api/v1/programs", source, strlen(source), false), make(&s, "/api/v1/programs", bytes, size, false),
        make(&s, "/api/v1/runs", run, (size_t)n, false), make(&s, "/api/v1/runs", words, (size_t)m, false),
        make(&s, "/api/v1/runs", run, (size_t)n, true)};
    for (long k = 0; k < many; k++) unanswered += !try_one(&s, &samples[k % KINDS], codes);
    printf("%ld requests: no answer %u, 2xx %u, 4xx %u, 5xx %u\n", many, codes[0], codes[2], codes[4], codes[5]);
    failures += unanswered > 0 || codes[5] > 0;
    if (unanswered) printf("FAILED: %u that are whole in HTTP have no answer\n", unanswered);
    expect_told("health afterwards", ask(&s, "GET", "/healthz", NULL, NULL), 200, "\"workers\":2");
    expect_told("no worker died", ask(&s, "GET", "/metrics", NULL, NULL), 200, "\nrvm_worker_deaths_total 0\n");
    served_stop(&s);
    for (int k = 0; k < KINDS; k++) free(samples[k].text);
    free(bytes);
    printf("%u failures\n", failures);
    return failures > 0;
}
