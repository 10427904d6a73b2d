#include "errand.h"
#include "answer.h"

#include <stdlib.h>
#include <string.h>

typedef struct errand {
    pool_job job;
    http_request *r;
    const char *type, *file;
} errand;

void errand_failed(http_request *r, pool_end end) {
    if (end == POOL_TIME)
        answer_error(r, 422, "TIME", "it took longer than the time limit, and was ended");
    else
        answer_error(r, 500, "INTERNAL", "a worker did not survive it; please report it with what was sent");
}

static void done(pool_job *j, pool_end end, const part parts[FRAME_PARTS]) {
    errand *e = j->owner;
    if (end != POOL_DONE) {
        errand_failed(e->r, end);
    } else {
        const outcome *o = parts[0].bytes;
        const char *const headers[] = {"Content-Disposition", e->file, NULL};
        char *text = malloc(parts[1].size + 1);
        if (text) memcpy(text, parts[1].bytes, parts[1].size);
        if (o->status || !text)
            answer_json(e->r, answer_code((rvm_status)o->status), text, parts[1].size);
        else
            http_answer(e->r, 200, e->type, text, parts[1].size, e->file ? headers : NULL);
    }
    free(j->body);
    free(e);
}

void errand_start(server *s, http_request *r, frame_kind kind, const part *parts, uint32_t n, const char *type,
                  const char *file) {
    errand *e = calloc(1, sizeof *e);
    if (e) *e = (errand){.job = {.kind = kind, .done = done, .owner = e}, .r = r, .type = type, .file = file};
    if (e) e->job.body = frame_pack(parts, n, &e->job.size);
    if (e && e->job.body && pool_add(s->pool, &e->job)) return;
    answer_busy(r, "too many requests wait");
    if (e) free(e->job.body);
    free(e);
}
