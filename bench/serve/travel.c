/* travel.c: serve_travel RVM: a session on 10⁹ instructions: a seek to the middle, first and again; a run to a stop on the
 * last line, both ways; steps, each with the state that it leads to. */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 1000, TURNS = 499999999 };

static const char spin[] = "fn spin(k: i64, n: i64)\n    for i in 0..n\n        k += i\n    end\n    k += 1\nend\n";

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

static void open_session(client *c, const served *s, char path[64]) {
    char body[200];
    client_take(c, s, "POST", "/api/v1/programs", spin);
    snprintf(body, sizeof body, "{\"program\":\"%.32s\",\"args\":{\"k\":0,\"n\":%d}}", strstr(c->body, "\"id\":\"") + 6,
             TURNS);
    client_take(c, s, "POST", "/api/v1/sessions", body);
    const char *id = strstr(c->body, "\"id\":\"") + 6;
    snprintf(path, 64, "/api/v1/sessions/%.*s", (int)strcspn(id, "\""), id);
}

static void measure_steps(client *c, const served *s, const char *path) {
    static double took[STEPS];
    for (int k = 0; k < STEPS; k++) took[k] = client_take(c, s, "POST", path, k % 2 ? "{\"by\":-1}" : "{\"by\":1}");
    qsort(took, STEPS, sizeof *took, client_by_time);
    printf("a step and its state: 50%% %.2f ms, 99%% %.2f\n", took[STEPS / 2], took[STEPS * 99 / 100]);
}

int main(int argc, char **argv) {
    static const char *const options[] = {"--workers", "1", "--fuel", "100G", "--seconds", "25", NULL};
    static client c;
    served s;
    char path[64], move[80], stops[80];
    if (argc < 2 || !served_start(&s, argv[1], options) || !client_connect(&c, s.port)) return 1;
    open_session(&c, &s, path);
    snprintf(move, sizeof move, "%s/move", path), snprintf(stops, sizeof stops, "%s/stops", path);
    client_take(&c, &s, "PUT", stops, "{\"lines\":[5]}");
    for (size_t k = 0; k < sizeof moves / sizeof *moves; k++)
        printf("%s: %.0f ms\n", moves[k].name, client_take(&c, &s, "POST", move, moves[k].body));
    client_take(&c, &s, "POST", move, moves[0].body);
    measure_steps(&c, &s, move);
    served_stop(&s);
    return 0;
}
