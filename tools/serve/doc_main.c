/* doc_main.c: prints docs/server_api.md from routes.def and topics.def. */
#include <stdio.h>
#include <string.h>

static const struct route {
    const char *method, *path, *access, *query, *doc;
} routes[] = {
#define ROUTE(id, method, path, access, handler, query, doc) {method, path, #access, query, doc},
#include "routes.def"
};

static const struct topic {
    const char *name, *what;
} topics[] = {
#define TOPIC(name, what) {#name, what},
#include "topics.def"
};

static const char *access_text(const char *access) {
    return strcmp(access, "OPEN") == 0 ? "" : strcmp(access, "WRITE") == 0 ? "token, and not with `--read-only`" : "token";
}

static void print_doc(const char *doc) {
    for (; *doc; doc++) {
        if (*doc == '|')
            fputs("\n\n", stdout);
        else
            putchar(*doc);
    }
    fputs("\n", stdout);
}

int main(void) {
    puts("# The server's API\n\nPrinted from `tools/serve/routes.def` and `tools/serve/topics.def` (`make serve_doc`). "
         "[server.md](server.md) says what a run is asked for, and what is\nthe same for all: access, limits, errors.\n\n"
         "| request | needs |\n|---|---|");
    for (size_t k = 0; k < sizeof routes / sizeof *routes; k++)
        printf("| `%s %s` | %s |\n", routes[k].method, routes[k].path, access_text(routes[k].access));
    for (size_t k = 0; k < sizeof routes / sizeof *routes; k++) {
        printf("\n## %s %s\n\n", routes[k].method, routes[k].path);
        if (*routes[k].query) printf("Query: %s.\n\n", routes[k].query);
        print_doc(routes[k].doc);
    }
    puts("\n## Topics of events\n\n| topic | what it tells |\n|---|---|");
    for (size_t k = 0; k < sizeof topics / sizeof *topics; k++) printf("| `%s` | %s |\n", topics[k].name, topics[k].what);
    puts("\nBesides, `lost` tells a client that was too slow, or away for long, from which event to which it missed all; "
         "every 15 s "
         "a comment says that the stream\nis still there.");
    return 0;
}
