/* api.c: a transcript of the API: serve_api RVM PROGRAM [--native]: programs, runs of every kind, limits, profiles, events,
 * what is kept. */
#include "transcript.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char norm[] =
    "fn norm(out: real, x: real[n])\n    compute\n        let ss: real\n        for i in 0..n\n            ss += x[i] ^ 2\n"
    "        end\n    do\n        out += sqrt(ss)\n    undo\nend\n";
static const char spin[] = "fn spin(k: i64, n: i64)\n    for i in 0..n\n        k += i\n    end\nend\n"
                           "fn leak(x: i64)\n    let t: i64 = x\n    t += 1\nend\n"
                           "fn deep(k: i64, n: i64)\n    if n > 0\n        compute\n            let m: i64 = n - 1\n        "
                           "do\n            call deep(k, m)\n"
                           "        undo\n    end\n    k += 1\nend\n"
                           "fn room(n: i64)\n    compute\n        let a: real[n]\n    do\n    undo\nend\n"
                           "fn marks(x: real, n: i64)\n    for i in 0..n\n        set x = exp(-x)\n    end\nend\n";

/* The member "id" of an answer, a text or a number. */
static void id_of(const told *t, char id[40]) {
    const char *at = t->body ? strstr(t->body, "\"id\":") : NULL;
    at = at ? at + 5 + (at[5] == '"') : "";
    snprintf(id, 40, "%.*s", (int)strspn(at, "0123456789abcdef"), at);
}

static void upload(const served *s, const char *path, const char *headers, const char *text, unsigned code, char id[40]) {
    told t = ask(s, "POST", path, headers, text);
    expect(t.code == code, path, &t, code, NULL);
    id_of(&t, id);
    told_free(&t);
}

static told run(const served *s, const char *program, const char *members) {
    char body[2000];
    snprintf(body, sizeof body, "{\"program\":\"%s\",%s}", program, members);
    return ask(s, "POST", "/api/v1/runs", NULL, body);
}

static told get(const served *s, const char *form, const char *id) {
    char path[256];
    snprintf(path, sizeof path, form, id);
    return ask(s, "GET", path, NULL, NULL);
}

/* ---- programs ---- */

static void test_programs(const served *s, char id[40]) {
    char again[40], other[40];
    upload(s, "/api/v1/programs?name=norm.rasm", NULL, norm, 201, id);
    upload(s, "/api/v1/programs?name=norm.rasm", NULL, norm, 200, again);
    upload(s, "/api/v1/programs?name=norm.rasm&real=fix", NULL, norm, 201, other);
    if (strcmp(id, again) != 0 || strcmp(id, other) == 0) failures++, printf("FAILED: ids\n");
    expect_told("a program", get(s, "/api/v1/programs/%s", id), 200, "\"functions\":[{\"name\":\"norm\"");
    expect_told("its source", get(s, "/api/v1/programs/%s/source", id), 200, "ss += x[i] ^ 2");
    expect_told("its bytecode", get(s, "/api/v1/programs/%s/bytecode", id), 200, "octet-stream");
    expect_told("its listing", get(s, "/api/v1/programs/%s/listing", id), 200, "out += sqrt(ss)\n");
    expect_told("all programs", get(s, "/api/v1/programs", ""), 200, "\"name\":\"norm.rasm\"");
    expect_told("none", get(s, "/api/v1/programs/%s", "00000000000000000000000000000000"), 404, "NOT_FOUND");
    expect_told("no id", get(s, "/api/v1/programs/%s", "x"), 404, "NOT_FOUND");
}

static void test_refused(const served *s) {
    expect_told("syntax", ask(s, "POST", "/api/v1/programs?name=a.rasm", NULL, "fn f(x: real)\n    x += \nend\n"), 400,
                "\"line\":2,");
    expect_told("a type", ask(s, "POST", "/api/v1/programs", NULL, "fn f(x: real)\n    x += x * x\nend\n"), 400,
                "\"diagnostics\":[");
    expect_told("a file", ask(s, "POST", "/api/v1/programs", NULL, "include \"/etc/passwd\"\n"), 400, "\"ok\":false");
    told t = ask(s, "POST", "/api/v1/programs", NULL, "include \"/etc/passwd\"\n");
    expect(!strstr(t.text, "root:"), "a file is not shown", &t, 400, NULL);
    told_free(&t);
    expect_told("the standard library", ask(s, "POST", "/api/v1/programs", NULL, "include \"std/blas.rasm\"\n"), 201,
                "\"ok\":true");
    static const char json[] = "Content-Type: application/json\r\n";
    expect_told(
        "several files",
        ask(s, "POST", "/api/v1/programs", json,
            "{\"main\":\"a.rasm\",\"files\":{\"a.rasm\":\"include \\\"b.rasm\\\"\\nfn f(x: real)\\n    call g(x)\\nend\\n\","
            "\"b.rasm\":\"fn g(x: real)\\n    x += 1\\nend\\n\"}}"),
        201, "\"name\":\"f\"");
    expect_told("files without one", ask(s, "POST", "/api/v1/programs", json, "{\"main\":\"a.rasm\",\"files\":{}}"), 400,
                "main");
    expect_told("damaged bytecode", ask(s, "POST", "/api/v1/programs", NULL, "RVM\x02 damaged"), 400, "\"ok\":false");
}

/* ---- runs ---- */

static const struct kind {
    const char *members, *text;
} kinds[] = {
    {"\"args\":{\"x\":[3,4]}", "\"values\":{\"out\":5,\"x\":[3,4]}"},
    {"\"kind\":\"backward\",\"args\":{\"out\":5,\"x\":[3,4]}", "\"values\":{\"out\":0,"},
    {"\"kind\":\"grad\",\"of\":\"out\",\"args\":{\"x\":[3,4]}", "\"gradients\":{\"x\":[0.6000000000000001,0.8]}"},
    {"\"kind\":\"grad\",\"of\":\"out\",\"checkpoints\":3,\"args\":{\"x\":[3,4]}",
     "\"gradients\":{\"x\":[0.6000000000000001,0.8]}"},
    {"\"kind\":\"grad\",\"of\":\"out\",\"checkpoints\":\"auto\",\"args\":{\"x\":[3,4]}",
     "\"gradients\":{\"x\":[0.6000000000000001,0.8]}"},
    {"\"kind\":\"vjp\",\"seed\":{\"out\":2},\"args\":{\"x\":[3,4]}", "\"x\":[1.2000000000000002,1.6]"},
    {"\"kind\":\"jvp\",\"dot\":{\"x\":[1,0]},\"args\":{\"x\":[3,4]}", "\"out\":0.6"},
    {"\"kind\":\"jac\",\"of\":\"out\",\"wrt\":[\"x\"],\"args\":{\"x\":[3,4]}", "0.6000000000000001"},
    {"\"kind\":\"hess\",\"of\":\"out\",\"wrt\":\"x\",\"args\":{\"x\":[3,4]}", "0.128"},
    {"\"kind\":\"hvp\",\"of\":\"out\",\"wrt\":\"x\",\"dot\":{\"x\":[1,0]},\"args\":{\"x\":[3,4]}", "0.128"},
    {"\"kind\":\"check\",\"args\":{\"x\":[3,4]}", "\"check\":\"transpose\""},
    {"\"fn\":\"norm'grad\",\"args\":{\"out\":0,\"out_b\":1,\"x\":[3,4],\"x_b\":[0,0]}", "\"x_b\":[0.6000000000000001,0.8]"},
    {"\"args\":{\"x\":\"zeros(2)\"}", "\"x\":[0,0]"},
    {"\"kind\":\"grad\",\"words\":[\"--of=out\",\"--\",\"a.rasm\",\"x=[3,4]\"]",
     "\"exit\":0,\"output\":[{\"stdout\":\"out = 5\\nx = [3, 4]\\nd out / d x = [0.6000000000000001, 0.8]\\n\"}]"},
    {"\"words\":[\"a.rasm\",\"x=@b\",\"--save=out=/c\",\"-q\"],\"files\":{\"b\":\"WzMsNF0=\"}",
     "\"output\":[],\"files\":{\"/c\":\"k05VTVBZ"},
    {"\"kind\":\"profile\",\"words\":[\"a.rasm\",\"x=[3,4]\",\"--format=folded\"]",
     "\"profiled\":true,\"ok\":true,\"exit\":0,\"output\":[{\"stdout\":\"forward;norm 3"},
    {"\"kind\":\"profile\",\"words\":[\"a.rasm\",\"x=[3,4]\",\"--format=pprof\"]", ",\"base64\":true}]"},
    {"\"args\":{\"x\":[1e999]}", NULL},
    {"\"args\":{\"x\":[\"Infinity\"]}", NULL},
};

static void test_kinds(const served *s, const char *norm_id) {
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (kinds[k].text) expect_told(kinds[k].members, run(s, norm_id, kinds[k].members), 200, kinds[k].text);
}

static const struct mistake {
    const char *members;
    unsigned code;
    const char *text;
} mistakes[] = {
    {"\"args\":{\"x\":\"@/etc/passwd\"}", 400, "reads no files"},
    {"\"args\":{\"@/etc/passwd\":1}", 400, "reads no files"},
    {"\"words\":[\"a.rasm\",\"x=@/etc/passwd\"]", 400,
     "\"stderr\":\"/etc/passwd: error: x: cannot read: No such file or directory"},
    {"\"words\":[\"a.rasm\",\"x=@b\"],\"files\":{\"b\":13}", 400, "cannot read: Permission denied"},
    {"\"words\":[\"a.rasm\",\"x=@b\"],\"files\":{\"b\":\"=\"}", 400, "by base64"},
    {"\"words\":[\"a.rasm\",\"--trust\"]", 400, "--trust does not go with"},
    {"\"words\":[\"a.rasm\",\"--fuel=1000G\"]", 400, "from 1 to"},
    {"\"words\":[\"a.rasm\",\"--server=x\"]", 400, "neither --help nor --server"},
    {"\"words\":[\"a.rasm\",\"--nonsense\"]", 400, "has no option"},
    {"\"words\":[\"a.rasm\",3]", 400, "a list of texts"},
    {"\"words\":3", 400, "a list of texts"},
    {"\"words\":[]", 400, "usage: rvm run"},
    {"\"words\":[\"a.rasm\"],\"args\":{}", 400, "no member"},
    {"\"args\":{\"x\":[1,[2]]}", 422, "\"ok\":false"},
    {"\"args\":{\"y\":1}", 400, "ARGUMENT"},
    {"\"args\":{}", 400, "missing"},
    {"\"args\":[1]", 400, "args"},
    {"\"kind\":\"dance\"", 400, "kind"},
    {"\"kind\":\"profile\",\"args\":{\"x\":[3,4]}", 400, "kind"},
    {"\"fn\":\"nothing\",\"args\":{}", 400, "nothing"},
    {"\"fn\":3", 400, "fn"},
    {"\"nonsense\":1", 400, "nonsense"},
    {"\"args\":{\"x\":[3,4]},\"kind\":\"grad\"", 400, "--of"},
    {"\"args\":{\"x\":[3,4]},\"limits\":{\"fuel\":99999999999999}", 400, "at most"},
    {"\"args\":{\"x\":[3,4]},\"limits\":{\"seconds\":-1}", 400, "seconds"},
    {"\"args\":{\"x\":[3,4]},\"profile\":\"yes\"", 400, "profile"},
    {"\"args\":{\"x\":[3,4]},\"kind\":\"grad\",\"of\":\"out\",\"checkpoints\":-1", 400, "from 1 to"},
    {"\"args\":{\"x\":[3,4]},\"kind\":\"grad\",\"of\":\"out\",\"checkpoints\":1.5", 400, "a text or a whole number"},
    {"\"args\":{\"x\":[3,4", 400, "JSON"},
    {"\"args\":{\"x\":[3,4]},\"args\":{}", 400, "JSON"},
};

static void test_mistakes(const served *s, const char *norm_id) {
    for (size_t k = 0; k < sizeof mistakes / sizeof *mistakes; k++)
        expect_told(mistakes[k].members, run(s, norm_id, mistakes[k].members), mistakes[k].code, mistakes[k].text);
    expect_told("no program", run(s, "00000000000000000000000000000000", "\"args\":{}"), 404, "NOT_FOUND");
    expect_told("no id", run(s, "x", "\"args\":{}"), 404, "NOT_FOUND");
    expect_told("no JSON", ask(s, "POST", "/api/v1/runs", NULL, "["), 400, "SYNTAX");
    expect_told("no body", ask(s, "POST", "/api/v1/runs", NULL, ""), 400, "SYNTAX");
    /* The guess of the program is another's than the JSON says. */
    char body[300];
    snprintf(body, sizeof body, "{\"fn\":\"\\\"program\\\":\\\"ffffffffffffffffffffffffffffffff\\\"\",\"program\":\"%s\"}",
             norm_id);
    expect_told("a program that is hidden", ask(s, "POST", "/api/v1/runs", NULL, body), 400, "no function");
}

/* Each limit ends a run with a status of its own. */
static void test_limits(const served *s, const char *id) {
    expect_told("fuel", run(s, id, "\"fn\":\"spin\",\"args\":{\"k\":0,\"n\":1000000},\"limits\":{\"fuel\":1000}"), 200,
                "\"code\":\"FUEL\"");
    expect_told("memory", run(s, id, "\"fn\":\"room\",\"args\":{\"n\":100000000}"), 200, "\"code\":\"MEMORY\"");
    expect_told("depth", run(s, id, "\"fn\":\"deep\",\"args\":{\"k\":0,\"n\":100},\"limits\":{\"depth\":50}"), 200,
                "\"code\":\"DEPTH\"");
    expect_told("trail", run(s, id, "\"fn\":\"marks\",\"args\":{\"x\":1,\"n\":1000000},\"limits\":{\"trail\":100000}"), 200,
                "\"code\":\"LIMIT\"");
    expect_told(
        "time",
        run(s, id, "\"fn\":\"spin\",\"engine\":\"interp\",\"args\":{\"k\":0,\"n\":900000000},\"limits\":{\"seconds\":0.1}"),
        200, "the time limit");
    expect_told("a failed check", run(s, id, "\"fn\":\"leak\",\"args\":{\"x\":3}"), 422, "\"code\":\"RELEASE\"");
}

/* ---- events ---- */

typedef struct stream {
    client c;
    char got[1 << 16];
    size_t n;
} stream;

static void open_stream(stream *x, const served *s, const char *topic) {
    char form[200];
    snprintf(form, sizeof form,
             "GET /api/v1/events?topics=%s HTTP/1.1\r\nHost: 127.0.0.1:%%P\r\nAuthorization: Bearer %%T\r\n\r\n", topic);
    char *text = request_of(s, form);
    if (!client_connect(&x->c, s->port) || write(x->c.fd, text, strlen(text)) < 0) abort();
    free(text);
    x->n = 0, *x->got = 0;
}

/* Waits until it says so. */
static void hear(stream *x, const char *name, const char *wanted) {
    const double until = now() + 5;
    while (now() < until && x->n < sizeof x->got - 1 && !strstr(x->got, wanted)) {
        struct pollfd p = {x->c.fd, POLLIN, 0};
        if (poll(&p, 1, 100) <= 0) continue;
        const ssize_t k = recv(x->c.fd, x->got + x->n, sizeof x->got - 1 - x->n, 0);
        if (k <= 0) break;
        x->got[x->n += (size_t)k] = 0;
    }
    expect(strstr(x->got, wanted), name, &(told){.text = x->got, .code = 200}, 200, wanted);
}

static void test_events(const served *s, const char *id) {
    static stream x;
    open_stream(&x, s, "run");
    hear(&x, "a stream", "still here");
    told t = run(s, id, "\"args\":{\"x\":[1]}");
    told_free(&t);
    hear(&x, "a run", "\nevent: run\ndata: {\"id\":");
    expect(strstr(x.got, "text/event-stream"), "events", &(told){.text = x.got, .code = 200}, 200, "text/event-stream");
    close(x.c.fd);
    expect_told("no topic", get(s, "/api/v1/events?topics=%s", "weather"), 400, "topic");
}

/* ---- what takes long ---- */

static void test_long(const served *s, const char *id) {
    static stream live;
    char number[40];
    told t = run(s, id,
                 "\"fn\":\"spin\",\"engine\":\"interp\",\"args\":{\"k\":0,\"n\":2000000000},\"limits\":{\"seconds\":8,"
                 "\"fuel\":4000000000},\"profile\":true");
    expect(t.code == 202 && strstr(t.text, "Location: /api/v1/runs/"), "a long run", &t, 202, "Location");
    id_of(&t, number);
    told_free(&t);
    const double begun = now();
    expect_told("beside it", run(s, id, "\"fn\":\"spin\",\"args\":{\"k\":0,\"n\":10}"), 200, "\"k\":45");
    if (now() - begun > 0.5) failures++, printf("FAILED: a small job waits %.3f s for a long one\n", now() - begun);
    expect_told("how far it is", get(s, "/api/v1/runs/%s", number), 200, "\"state\":\"running\"");
    open_stream(&live, s, "live");
    hear(&live, "where it is", "\"lines\":[[0,");
    hear(&live, "its call path", "\"paths\":[[null,0,");
    close(live.c.fd);
    char path[100];
    snprintf(path, sizeof path, "/api/v1/runs/%s", number);
    expect_told("its end", ask(s, "DELETE", path, NULL, NULL), 202, "\"state\"");
    for (int k = 0; k < 40; k++) {
        t = get(s, "/api/v1/runs/%s", number);
        const bool ended = strstr(t.text, "CANCELLED");
        if (ended || k == 39) expect(ended, "cancelled", &t, 200, "CANCELLED");
        told_free(&t);
        if (ended) break;
        usleep(50000);
    }
    expect_told("deleted", ask(s, "DELETE", path, NULL, NULL), 200, "\"ok\":true");
    expect_told("gone", get(s, "/api/v1/runs/%s", number), 404, "NOT_FOUND");
}

/* ---- profiles ---- */

static void test_profiles(const served *s, const char *id) {
    char a[40], b[40], path[100];
    told t = run(s, id, "\"fn\":\"norm\",\"args\":{\"x\":[3,4]},\"profile\":true");
    expect(t.code == 200, "a run with a profile", &t, 200, NULL);
    id_of(&t, a);
    told_free(&t);
    t = run(s, id, "\"kind\":\"grad\",\"of\":\"out\",\"args\":{\"x\":[3,4,5]},\"profile\":true");
    id_of(&t, b);
    told_free(&t);
    expect_told("what was asked", get(s, "/api/v1/runs/%s/request", a), 200, "\"fn\":\"norm\"");
    expect_told("its profile", get(s, "/api/v1/runs/%s/profile", a), 200, "\"instructions\":18");
    expect_told("folded", get(s, "/api/v1/runs/%s/profile?format=folded", a), 200, "compute;norm ");
    expect_told("speedscope", get(s, "/api/v1/runs/%s/profile?format=speedscope", a), 200, "speedscope.app");
    expect_told("pprof", get(s, "/api/v1/runs/%s/profile?format=pprof", a), 200, "octet-stream");
    expect_told("another", get(s, "/api/v1/runs/%s/profile?format=x", a), 400, "format is");
    snprintf(path, sizeof path, "/api/v1/compare?a=%s&b=%s", a, a);
    expect_told("with itself", ask(s, "GET", path, NULL, NULL), 200,
                "\"functions\":{\"changed\":[],\"vanished\":[],\"appeared\":[]},\"lines\":{\"changed\":[],");
    snprintf(path, sizeof path, "/api/v1/compare?a=%s&b=%s", a, b);
    expect_told("with another", ask(s, "GET", path, NULL, NULL), 200, "\"at\":\"norm\",\"a\":18");
    expect_told("with none", ask(s, "GET", "/api/v1/compare?a=1", NULL, NULL), 400, "two runs");
    snprintf(path, sizeof path, "/api/v1/runs/%s/pin", a);
    expect_told("a pin", ask(s, "PUT", path, NULL, NULL), 200, "\"ok\":true");
    expect_told("the list", get(s, "/api/v1/runs?limit=2", ""), 200, "\"pinned\":true,\"profiled\":true");
    expect_told("no pin", ask(s, "DELETE", path, NULL, NULL), 200, "\"ok\":true");
}

static void test_pages(const served *s) {
    expect_told("health", get(s, "/healthz", ""), 200, "\"store\":\"ok\"");
    expect_told("metrics", get(s, "/metrics", ""), 200, "\nrvm_http_requests_total{route=\"/api/v1/runs\",code=\"2xx\"}");
    expect_told("no worker died", get(s, "/metrics", ""), 200, "\nrvm_worker_deaths_total 0\n");
    expect_told("metrics of workers", get(s, "/metrics", ""), 200, "\nrvm_workers 2\n");
    expect_told("the page", get(s, "/", ""), 200, "text/html");
    expect_told("what there is", get(s, "/api/v1", ""), 200, "{\"method\":\"POST\",\"path\":\"/programs\"}");
}

int main(int argc, char **argv) {
    const char *const options[] = {"--workers", "2", "--fuel", "4G", argc > 3 ? argv[3] : NULL, NULL};
    served s;
    char norm_id[40], spin_id[40];
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2 || !served_start(&s, argv[1], options)) return printf("the server does not start\n"), 1;
    test_programs(&s, norm_id);
    upload(&s, "/api/v1/programs?name=spin.rasm", NULL, spin, 201, spin_id);
    test_refused(&s);
    test_kinds(&s, norm_id);
    test_mistakes(&s, norm_id);
    test_limits(&s, spin_id);
    test_long(&s, spin_id);
    test_profiles(&s, norm_id);
    test_events(&s, norm_id);
    test_pages(&s);
    served_stop(&s);
    printf("%u failures\n", failures);
    return failures > 0;
}
