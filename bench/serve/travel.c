/* travel.c: serve_travel RVM: a session on 10⁹ instructions: a seek to the middle, first and again; a run to a stop on the
 * last line, both ways; steps, each with the state that it leads to; all of it forward, and as a run that goes backward, to
 * a stop behind the loop, beside the same without a stop. */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 1000, TURNS = 499999999 };

static const char spin[] =
    "fn spin(k: i64, n: i64)\n    k += 1\n    for i in 0..n\n        k += i\n    end\n    k += 1\nend\n";

/* Lines behind the loop, as either direction comes by. */
enum { FIRST = 2, LAST = 6 };

static const struct move {
    const char *name, *body;
} moves[] = {
    {"to the middle, first", "{\"to\":500000000}"},
    {"to the start", "{\"to\":\"start\"}"},
    {"to the middle, again", "{\"to\":500000000}"},
    {"to the stop, from there", "{\"run\":\"forward\"}"},
    {"to the end", "{\"to\":\"end\"}"},
    {"back to the stop", "{\"run\":\"backward\"}"},
    {"from the stop to the one before, which is none", "{\"run\":\"backward\"}"},
};

typedef struct {
    char move[80], stops[80];
} session;

static void open_session(client *c, const served *s, const char *kind, session *of) {
    char body[200], path[64];
    client_take(c, s, "POST", "/api/v1/programs", spin);
    snprintf(body, sizeof body, "{\"program\":\"%.32s\",\"kind\":\"%s\",\"args\":{\"k\":0,\"n\":%d}}",
             strstr(c->body, "\"id\":\"") + 6, kind, TURNS);
    client_take(c, s, "POST", "/api/v1/sessions", body);
    const char *id = strstr(c->body, "\"id\":\"") + 6;
    snprintf(path, sizeof path, "/api/v1/sessions/%.*s", (int)strcspn(id, "\""), id);
    snprintf(of->move, sizeof of->move, "%s/move", path), snprintf(of->stops, sizeof of->stops, "%s/stops", path);
}

static void set_stop(client *c, const served *s, const session *of, int line) {
    char body[40];
    snprintf(body, sizeof body, "{\"lines\":[%d]}", line);
    client_take(c, s, "PUT", of->stops, body);
}

static void measure_steps(client *c, const served *s, const char *path) {
    static double took[STEPS];
    for (int k = 0; k < STEPS; k++) took[k] = client_take(c, s, "POST", path, k % 2 ? "{\"by\":-1}" : "{\"by\":1}");
    qsort(took, STEPS, sizeof *took, client_by_time);
    printf("a step and its state: 50%% %.2f ms, 99%% %.2f\n", took[STEPS / 2], took[STEPS * 99 / 100]);
}

/* All instructions, first without a stop, then to one. */
static void measure_stops(client *c, const served *s, const char *kind, const char *way, int line) {
    double took[2];
    char body[40];
    snprintf(body, sizeof body, "{\"run\":\"%s\"}", way);
    for (int k = 0; k < 2; k++) {
        session of;
        open_session(c, s, kind, &of);
        if (k) set_stop(c, s, &of, line);
        took[k] = client_take(c, s, "POST", of.move, body);
    }
    printf("a whole run %s: %.0f ms, to a stop %.0f ms: %.0f %% of its speed\n", way, took[0], took[1],
           100 * took[0] / took[1]);
}

int main(int argc, char **argv) {
    static const char *const options[] = {"--workers", "1", "--fuel", "100G", "--seconds", "25", NULL};
    static client c;
    served s;
    session of;
    if (argc < 2 || !served_start(&s, argv[1], options) || !client_connect(&c, s.port)) return 1;
    open_session(&c, &s, "run", &of);
    set_stop(&c, &s, &of, LAST);
    for (size_t k = 0; k < sizeof moves / sizeof *moves; k++)
        printf("%s: %.0f ms\n", moves[k].name, client_take(&c, &s, "POST", of.move, moves[k].body));
    client_take(&c, &s, "POST", of.move, moves[0].body);
    measure_steps(&c, &s, of.move);
    measure_stops(&c, &s, "run", "forward", LAST);
    measure_stops(&c, &s, "backward", "backward", FIRST);
    served_stop(&s);
    return 0;
}
