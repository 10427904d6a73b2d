/* commanded.h: a run that is asked for in the words of a command line, by `rvm KIND --server`, and answered by all that the
 * command says and writes, so that it can be told there as if it had run there:
 *
 *     {"program": id, "kind": "grad", "words": ["--of=out", "--save=x=g.npy", "--", "norm.rasm", "norm", "x=@x.npy"],
 *      "files": {"x.npy": BASE64, "norm.rasm": BASE64}, "coloured": false}
 *
 *     {"ok": true, "exit": 0, "output": [{"stdout": "out = 5\n"}], "files": {"g.npy": BASE64}}
 *
 * output: pieces of stdout and stderr; of one that is no text, with "base64": true, the bytes.
 *
 * files: what the command may read, and sources, for messages. In place of the bytes a number says by errno why a file
 * cannot be read; {"standard": "std/blas.rasm"} is that text of this server. */
#ifndef RVM_SERVE_COMMANDED_H
#define RVM_SERVE_COMMANDED_H

#include "tasks.h"

typedef struct commanded_voice {
    struct commanded *of;
    const char *name;
} commanded_voice;

typedef struct commanded {
    char **argv;
    file_set files, written;
    FILE *before[2];           /* stdout, stderr */
    commanded_voice voice[2];  /* in their place */
    const commanded_voice *at; /* whose piece it is */
    FILE *piece, *pieces;
    char *piece_text, *pieces_text;
    size_t piece_size, pieces_size;
    json j;
} commanded;

bool commanded_is(const json_t *request);
/* Takes stdout and stderr. False: no memory, and nothing is taken. */
bool commanded_begin(commanded *x);
/* As request_read. */
rvm_status commanded_read(commanded *x, tool *t, json_t *request, const work_limits *most, double *seconds);
/* Gives them back, writes the answer, frees all. exit: status of the process that the command would have been. */
void commanded_end(commanded *x, work *w, rvm_status st, const rvm_error *why, int exit);

#endif
