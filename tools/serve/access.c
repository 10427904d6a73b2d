#include "access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

bool access_token(server *s, const char *file, char *why, size_t size) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned char random[43];
    if (file) {
        FILE *in = fopen(file, "r");
        if (!in || !fgets(s->token, sizeof s->token, in)) {
            snprintf(why, size, "%s: no token can be read there", file);
            if (in) fclose(in);
            return false;
        }
        fclose(in);
        s->token[strcspn(s->token, " \t\r\n")] = 0;
        if (strlen(s->token) < 16) return snprintf(why, size, "%s: a token has 16 letters at least", file), false;
        return true;
    }
    if (getrandom(random, sizeof random, 0) != sizeof random) return snprintf(why, size, "no random numbers"), false;
    for (size_t k = 0; k < sizeof random; k++) s->token[k] = letters[random[k] % 64];
    s->token[sizeof random] = 0;
    return true;
}

void access_hosts(server *s, const char *address, unsigned port) {
    const bool six = strchr(address, ':');
    snprintf(s->host[0], sizeof s->host[0], six ? "[%s]:%u" : "%s:%u", address, port);
    snprintf(s->host[1], sizeof s->host[1], "localhost:%u", port);
    snprintf(s->host[2], sizeof s->host[2], "%s", port ? "" : "localhost"); /* of a Unix socket */
}

static bool is_host(const server *s, const char *host) {
    for (size_t k = 0; k < sizeof s->host / sizeof *s->host; k++)
        if (*s->host[k] && strcasecmp(host, s->host[k]) == 0) return true;
    for (size_t k = 0; k < s->c.hosts.n; k++)
        if (strcasecmp(host, s->c.hosts.item[k]) == 0) return true;
    return false;
}

static bool is_allowed(const server *s, const char *origin) {
    for (size_t k = 0; k < s->c.origins.n; k++)
        if (strcmp(origin, s->c.origins.item[k]) == 0) return true;
    return false;
}

/* That of this server, by the name that the request has for it. */
static bool is_own(const server *s, const char *origin) {
    if (strncmp(origin, "http://", 7) == 0) return is_host(s, origin + 7);
    return strncmp(origin, "https://", 8) == 0 && is_host(s, origin + 8);
}

/* Takes as long wherever they differ. */
static bool is_equal(const char *a, const char *b) {
    const size_t n = strlen(a);
    unsigned char differ = 0;
    if (strlen(b) != n) return false;
    for (size_t k = 0; k < n; k++) differ |= (unsigned char)(a[k] ^ b[k]);
    return !differ;
}

access_verdict access_check(const server *s, const http_request *r, bool needs_token) {
    static const char bearer[] = "Bearer ";
    const char *host = http_header(r, "Host"), *origin = http_header(r, "Origin");
    const char *given = needs_token ? http_header(r, "Authorization") : NULL;
    if (!host || !is_host(s, host)) return ACCESS_HOST;
    if (origin && !is_own(s, origin) && !is_allowed(s, origin)) return ACCESS_ORIGIN;
    if (!needs_token) return ACCESS_GRANTED;
    if (!given || strncasecmp(given, bearer, sizeof bearer - 1) != 0) return ACCESS_TOKEN;
    return is_equal(s->token, given + sizeof bearer - 1) ? ACCESS_GRANTED : ACCESS_TOKEN;
}

const char *access_foreign_origin(const server *s, const http_request *r) {
    const char *origin = s->c.origins.n ? http_header(r, "Origin") : NULL;
    return origin && is_allowed(s, origin) ? origin : NULL;
}
