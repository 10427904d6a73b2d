/* base64.h: bytes as text, as RFC 4648 has them. */
#ifndef RVM_TOOLS_BASE64_H
#define RVM_TOOLS_BASE64_H

#include <stddef.h>

/* Both in memory from malloc, a 0 behind them; NULL: no memory, or (of the latter) the text is none. */
char *base64_encode(const void *bytes, size_t size);
char *base64_decode(const char *text, size_t *size);

#endif
