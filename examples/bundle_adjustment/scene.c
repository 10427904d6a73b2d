/* scene.c: writes a synthetic scene in BAL text format to standard output. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bal.h"

static const char usage[] = "usage: scene CAMERAS POINTS NOISE SEED > scene.txt\n"
                            "Cameras on a ring around points on a ball, with Gaussian noise of NOISE pixels.\n";

static bool number(const char *text, double lo, double hi, double *out) {
    char *end;
    *out = strtod(text, &end);
    if (end != text && !*end && *out >= lo && *out <= hi) return true;
    fprintf(stderr, "scene: '%s' is not a number from %g to %g\n%s", text, lo, hi, usage);
    return false;
}

int main(int argc, char **argv) {
    double cameras, points, noise, seed;
    bal b;
    if (argc == 2 && !strcmp(argv[1], "--help")) return fputs(usage, stdout) < 0;
    if (argc != 5) {
        fputs(usage, stderr);
        return 2;
    }
    if (!number(argv[1], 1, 1e4, &cameras) || !number(argv[2], 1, 1e6, &points) || !number(argv[3], 0, 1e3, &noise) ||
        !number(argv[4], 0, 1e15, &seed))
        return 2;
    if (!bal_generate(&b, (int64_t)cameras, (int64_t)points, noise, (uint64_t)seed)) {
        fprintf(stderr, "scene: out of memory\n");
        return 4;
    }
    bool ok = bal_write(&b, stdout);
    if (!ok) fprintf(stderr, "scene: cannot write: %s\n", strerror(errno));
    bal_free(&b);
    return ok ? 0 : 3;
}
