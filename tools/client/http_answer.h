/* http_answer.h: the head of an answer of HTTP/1.1 that says how long its body is, as those of `rvm serve` do. */
#ifndef RVM_CLIENT_HTTP_ANSWER_H
#define RVM_CLIENT_HTTP_ANSWER_H

#include <stddef.h>

typedef struct http_answer {
    unsigned code, retry_after;   /* the latter in seconds; 0: it does not say */
    size_t head;                  /* bytes before the body */
    unsigned long long body_size; /* that is announced */
} http_answer;

/* text: what came so far, ended by 0. 1: the head is whole; 0: not yet; -1: it is none. */
int http_answer_read(http_answer *a, const char *text);

#endif
