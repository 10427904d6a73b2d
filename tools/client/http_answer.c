#include "http_answer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *value_of(const char *head, const char *end, const char *name) {
    const size_t n = strlen(name);
    for (const char *at = strstr(head, "\r\n"); at && at + 2 < end; at = strstr(at + 2, "\r\n"))
        if (strncasecmp(at + 2, name, n) == 0 && at[2 + n] == ':') return at + 3 + n + strspn(at + 3 + n, " \t");
    return NULL;
}

int http_answer_read(http_answer *a, const char *text) {
    static const char version[] = "HTTP/1.";
    const size_t size = strlen(text);
    if (strncmp(text, version, size < sizeof version - 1 ? size : sizeof version - 1) != 0) return -1;
    const char *end = strstr(text, "\r\n\r\n");
    if (!end) return 0;
    end += 4;
    const char *length = value_of(text, end, "Content-Length"), *later = value_of(text, end, "Retry-After");
    if (!length) return -1;
    *a = (http_answer){.code = (unsigned)strtoul(text + sizeof "HTTP/1.1", NULL, 10),
                       .retry_after = later ? (unsigned)strtoul(later, NULL, 10) : 0,
                       .head = (size_t)(end - text),
                       .body_size = strtoull(length, NULL, 10)};
    return 1;
}
