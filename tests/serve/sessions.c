/* sessions.c: time travel over HTTP: serve_sessions RVM. */
#include "transcript.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
    "fn spin(k: i64, n: i64)\n    for i in 0..n\n        k += i\n        k ^= 5\n    end\nend\n"
    "fn norm(out: real, x: real[n])\n    compute\n        let ss: real\n        for i in 0..n\n            ss += x[i] ^ 2\n"
    "        end\n    do\n        out += sqrt(ss)\n    undo\nend\n";

static void id_of(const told *t, char id[40]) {
    const char *at = t->body ? strstr(t->body, "\"id\":\"") : NULL;
    snprintf(id, 40, "%.*s", at ? (int)strspn(at + 6, "0123456789abcdef") : 0, at ? at + 6 : "");
}

static void begin(const served *s, const char *program, const char *members, char id[40]) {
    char body[600];
    snprintf(body, sizeof body, "{\"program\":\"%s\",%s}", program, members);
    told t = ask(s, "POST", "/api/v1/sessions", NULL, body);
    expect(t.code == 201 && strstr(t.text, "\"position\":{\"at\":0,\"swept\":false}"), members, &t, 201, "position 0");
    id_of(&t, id);
    told_free(&t);
}

static told on(const served *s, const char *method, const char *id, const char *what, const char *body) {
    char path[128];
    snprintf(path, sizeof path, "/api/v1/sessions/%s%s", id, what);
    return ask(s, method, path, NULL, body);
}

static const struct step {
    const char *method, *what, *body;
    unsigned code;
    const char *text;
} steps[] = {
    {"POST", "/move", "{\"by\":1}", 200, "\"position\":{\"at\":1,\"swept\":false},\"reached\":\"position\""},
    {"POST", "/move", "{\"by\":-1}", 200, "\"position\":{\"at\":0,"},
    {"POST", "/move", "{\"by\":-1}", 200, "\"reached\":\"end\""},
    {"POST", "/move", "{\"to\":\"end\"}", 200, "\"reached\":\"end\""},
    {"GET", "/state?places=k", NULL, 200, "\"places\":[{\"name\":\"k\",\"type\":\"i64\",\"shape\":[],\"value\":"},
    {"POST", "/move", "{\"to\":100}", 200, "\"position\":{\"at\":100,"},
    {"PUT", "/stops", "{\"lines\":[4]}", 200, "\"line\":4"},
    {"POST", "/move", "{\"run\":\"forward\"}", 200, "\"reached\":\"stop\""},
    {"POST", "/move", "{\"run\":\"backward\"}", 200, "\"reached\":\"stop\""},
    {"POST", "/move", "{\"write\":\"k\"}", 200, "\"reached\":\"watch\""},
    {"POST", "/move", "{\"write\":\"j\"}", 400, "not present"},
    {"POST", "/move", "{\"write\":\"k[7]\"}", 400, "`k[7]`: `k` has 0 dimensions"},
    {"POST", "/move", "{\"to\":7}", 200, "\"line\":3"},
    {"POST", "/move", "{\"lines\":1}", 200, "\"position\":{\"at\":8,\"swept\":false},\"reached\":\"position\""},
    {"POST", "/move", "{\"lines\":-4}", 200, "\"position\":{\"at\":4,\"swept\":false},\"reached\":\"position\""},
    {"PUT", "/stops", "{\"lines\":[{\"line\":4,\"if\":\"i == 900\"}]}", 200, "\"if\":\"i == 900\""},
    {"POST", "/move", "{\"run\":\"forward\"}", 200,
     "\"position\":{\"at\":2702,\"swept\":false},\"reached\":\"stop\",\"stop\":0"},
    {"POST", "/move", "{\"run\":\"forward\"}", 200, "\"reached\":\"end\""},
    {"POST", "/move", "{\"run\":\"backward\"}", 200, "\"position\":{\"at\":2702,"},
    {"PUT", "/stops", "{\"lines\":[{\"line\":4,\"if\":\"none > 3\"}]}", 200, "\"line\":4"},
    {"POST", "/move", "{\"run\":\"backward\"}", 200, "\"why\":\"`none > 3`: unknown name"},
    {"PUT", "/stops", "{\"lines\":[{\"line\":4,\"if\":7}]}", 400, "a stop is a line"},
    {"POST", "/move", "{\"lines\":1000000}", 200, "\"reached\":\"end\""},
    {"POST", "/log", "{\"line\":4,\"places\":[\"k\"],\"from\":0,\"to\":30}", 200, "\"entries\":[{\"position\":{\"at\":"},
    {"PUT", "/stops", "{\"lines\":[999]}", 400, "line 999"},
    {"PUT", "/stops", "{\"lines\":[4294967300]}", 400, "line 4294967300 has no instruction"},
    {"PUT", "/stops", "{\"lines\":[-1]}", 400, "line -1 has no instruction"},
    {"POST", "/log", "{\"line\":4294967300,\"places\":[\"k\"],\"from\":0,\"to\":30}", 400, "a line with instructions"},
    {"GET", "/state?places=k&frame=4294967296", NULL, 200, "\"places\":[]"},
    {"GET", "/state?frame=-1", NULL, 400, "frame: `-1` is no number"},
    {"PUT", "/stops", "{\"lines\":[]}", 200, "\"stops\":[]"},
    {"POST", "/move", "{}", 400, "a move has"},
    {"POST", "/move", "{\"to\":5,\"swept\":true}", 400, "only a session of kind grad"},
    {"POST", "/move", "[", 400, "JSON"},
    {"POST", "/move", "{\"to\":\"start\"}", 200, "\"position\":{\"at\":0,"},
    {"DELETE", "", NULL, 200, "\"ok\":true"},
    {"POST", "/move", "{\"by\":1}", 404, "NOT_FOUND"},
};

static void test_steps(const served *s, const char *id) {
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
        expect_told(steps[k].body ? steps[k].body : steps[k].what, on(s, steps[k].method, id, steps[k].what, steps[k].body),
                    steps[k].code, steps[k].text);
}

/* The sweep is a second leg: shadows gain there. */
static void test_gradient(const served *s, const char *program) {
    char id[40];
    begin(s, program, "\"fn\":\"norm\",\"kind\":\"grad\",\"of\":\"out\",\"args\":{\"x\":[3,4]}", id);
    expect_told("to the end of the sweep", on(s, "POST", id, "/move", "{\"to\":\"end\",\"swept\":true}"), 200,
                "\"swept\":true");
    expect_told("what it gained", on(s, "GET", id, "/state?places=x", NULL), 200,
                "\"value\":[3,4],\"shadow\":[0.6000000000000001,0.8]");
    expect_told("before a shadow's last gain", on(s, "POST", id, "/move", "{\"write\":\"x_b\"}"), 200,
                "\"value\":[3,4],\"shadow\":[0,0.8]");
    expect_told("beyond the array", on(s, "POST", id, "/move", "{\"write\":\"x_b[2]\"}"), 400,
                "`x_b[2]`: index 2 is out of bounds 0..2");
    expect_told("from leg to leg", on(s, "POST", id, "/move", "{\"by\":-20}"), 200,
                "\"position\":{\"at\":11,\"swept\":false}");
    expect_told("and on", on(s, "POST", id, "/move", "{\"lines\":8}"), 200, "\"position\":{\"at\":1,\"swept\":true}");
    expect_told("a line back", on(s, "POST", id, "/move", "{\"lines\":-1}"), 200,
                "\"position\":{\"at\":18,\"swept\":false}");
    expect_told("back before it", on(s, "POST", id, "/move", "{\"to\":0,\"swept\":false}"), 200, "\"swept\":false");
}

/* A far position, twice: seeks are quick once there are keyframes. */
static void test_far(const served *s, const char *program) {
    char id[40];
    begin(s, program, "\"fn\":\"spin\",\"args\":{\"k\":0,\"n\":20000000}", id);
    const double first = now();
    expect_told("far", on(s, "POST", id, "/move", "{\"to\":40000000}"), 200, "\"at\":40000000");
    const double second = now();
    expect_told("a little back", on(s, "POST", id, "/move", "{\"to\":39999990}"), 200, "\"at\":39999990");
    printf("40 million instructions forward: %.0f ms; ten back: %.0f ms\n", 1e3 * (second - first), 1e3 * (now() - second));
}

/* A move that is under way is given up for another. */
static void test_scrubbing(const served *s, const char *program) {
    char id[40], path[100];
    begin(s, program, "\"fn\":\"spin\",\"args\":{\"k\":0,\"n\":1000000000}", id);
    client c = {0};
    if (!client_connect(&c, s->port)) abort();
    snprintf(path, sizeof path, "/api/v1/sessions/%s/move", id);
    client_request(&c, s, "POST", path, "{\"to\":900000000}");
    int state = client_go(&c);
    const double begun = now();
    while (now() < begun + 0.1) {}
    expect_told("the last wins", on(s, "POST", id, "/move", "{\"to\":10}"), 200, "\"at\":10,");
    for (const double until = now() + 10; !state && now() < until;) state = client_go(&c);
    expect(state > 0 && strstr(c.in, "CANCELLED"), "the one before", &(told){.text = c.in, .code = c.code}, 200,
           "CANCELLED");
}

static void test_many(const served *s, const char *program) {
    char body[300];
    unsigned opened = 0, refused = 0;
    snprintf(body, sizeof body, "{\"program\":\"%s\",\"fn\":\"spin\",\"args\":{\"k\":0,\"n\":10}}", program);
    for (int k = 0; k < 12; k++) {
        told t = ask(s, "POST", "/api/v1/sessions", NULL, body);
        opened += t.code == 201, refused += t.code == 429;
        told_free(&t);
    }
    if (opened + refused != 12 || !refused) failures++, printf("FAILED: %u opened, %u refused\n", opened, refused);
    expect_told("sessions", ask(s, "GET", "/api/v1/sessions", NULL, NULL), 200, "\"idle\":");
    expect_told("others are served", ask(s, "GET", "/healthz", NULL, NULL), 200, "\"workers\":2");
}

int main(int argc, char **argv) {
    static const char *const options[] = {"--workers", "2", "--sessions", "8", "--fuel", "4G", NULL};
    served s;
    char program[40], id[40];
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2 || !served_start(&s, argv[1], options)) return printf("the server does not start\n"), 1;
    told t = ask(&s, "POST", "/api/v1/programs?name=spin.rasm", NULL, text);
    id_of(&t, program);
    told_free(&t);
    begin(&s, program, "\"fn\":\"spin\",\"args\":{\"k\":0,\"n\":1000}", id);
    test_steps(&s, id);
    test_gradient(&s, program);
    test_far(&s, program);
    test_scrubbing(&s, program);
    test_many(&s, program);
    served_stop(&s);
    printf("%u failures\n", failures);
    return failures > 0;
}
