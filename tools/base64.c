#include "base64.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const void *bytes, size_t size) {
    const unsigned char *from = bytes;
    char *text = malloc(size / 3 * 4 + 5), *to = text;
    if (!text) return NULL;
    for (size_t k = 0; k < size; k += 3) {
        const size_t n = size - k < 3 ? size - k : 3;
        const uint32_t v = (uint32_t)from[k] << 16 | (n > 1 ? (uint32_t)from[k + 1] << 8 : 0) | (n > 2 ? from[k + 2] : 0);
        for (size_t i = 0; i < 4; i++) *to++ = i <= n ? letters[v >> (18 - 6 * i) & 63] : '=';
    }
    *to = 0;
    return text;
}

char *base64_decode(const char *text, size_t *size) {
    const size_t length = strlen(text);
    if (length % 4) return NULL;
    const size_t digits = length && text[length - 1] == '=' ? length - 1 - (text[length - 2] == '=') : length;
    char *bytes = malloc(length / 4 * 3 + 1), *to = bytes;
    uint32_t v = 0;
    for (size_t k = 0; bytes && k < digits; k++) {
        const char *at = strchr(letters, text[k]);
        if (!at) return free(bytes), NULL;
        v = v << 6 | (uint32_t)(at - letters);
        if (k % 4) *to++ = (char)(v >> (6 - 2 * (k % 4)) & 0xff);
    }
    if (!bytes) return NULL;
    *to = 0;
    *size = (size_t)(to - bytes);
    return bytes;
}
