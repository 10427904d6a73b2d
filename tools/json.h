/* json.h: writes JSON, nothing else. Commas appear by themselves. Output is valid UTF-8 whatever the names are. */
#ifndef RVM_TOOLS_JSON_H
#define RVM_TOOLS_JSON_H

#include "rvm.h"

typedef struct json {
    FILE *out;
    bool comma; /* the next item needs one before it */
} json;

void json_open(json *j, char bracket); /* { or [ */
void json_close(json *j, char bracket);
void json_key(json *j, const char *name);
void json_text(json *j, const char *text); /* NULL: null */
/* Whether json_text loses nothing of these bytes, which a 0 ends: they are UTF-8 without another. */
bool json_is_text(const char *bytes, size_t size);
void json_uint(json *j, uint64_t v); /* 0 .. 2^64 - 1, all digits */
void json_bool(json *j, bool v);
void json_none(json *j);
void json_f64(json *j, double x);                    /* NaN and infinities as strings */
void json_number(json *j, rvm_type t, rvm_scalar v); /* of the machine */

#endif
