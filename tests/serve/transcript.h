/* transcript.h: what is said to a server, byte by byte, and what it answers. */
#ifndef RVM_TESTS_SERVE_TRANSCRIPT_H
#define RVM_TESTS_SERVE_TRANSCRIPT_H

#include "client.h"

typedef struct told {
    char *text; /* all that came, ended by 0 */
    size_t size;
    unsigned code;    /* of the first answer; 0: none came */
    unsigned answers; /* how many there are */
    const char *body; /* of the first */
} told;

/* Sends bytes, then reads until the server closes, `answers` whole ones are there, or it takes 10 s. half: then closes its
 * side first. */
told tell(const served *s, const char *bytes, size_t size, unsigned answers, bool half);
void told_free(told *t);
/* A request made of a template: %T the token, %H the first half of it, %P the port. */
char *request_of(const served *s, const char *form);
/* An ordinary request with the token; body NULL: none. */
told ask(const served *s, const char *method, const char *path, const char *headers, const char *body);

/* Counts and says what is not as it should be. */
extern unsigned failures;
void expect(bool good, const char *name, const told *t, unsigned code, const char *text);
/* The code, and `text` somewhere in the answer (NULL: anything). Frees it. */
void expect_told(const char *name, told t, unsigned code, const char *text);

#endif
