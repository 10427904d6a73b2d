#include "events.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT = 1024, HEARTBEAT_MS = 15000, AWAY_MS = 60000 };

static const char *const names[EVENT_TOPIC_COUNT] = {
#define TOPIC(name, what) #name,
#include "topics.def"
};

typedef struct event {
    uint64_t id;
    event_topic topic;
    char *text;
    size_t size;
} event;

typedef struct subscriber {
    events *of;
    http_request *r;
    uint64_t next; /* the event that it gets next */
    size_t at;     /* within that */
    unsigned topics;
    bool heartbeat;
    struct subscriber *after, *before;
} subscriber;

struct events {
    event kept[KEPT]; /* by id % KEPT */
    uint64_t last;    /* id of the last; 0: none */
    subscriber *subscribers;
    unsigned n;
    uint64_t left; /* when the last one did, ms of the loop */
    uv_timer_t heartbeat;
    json j;
    event making;
};

/* ---- the stream of one subscriber ---- */

static const event *event_of(const events *e, uint64_t id) {
    const event *v = &e->kept[id % KEPT];
    return v->id == id ? v : NULL;
}

/* Goes on with the next one that is there. */
static size_t lost(subscriber *s, char *to, size_t room) {
    const events *e = s->of;
    const uint64_t from = s->next, first = e->last >= KEPT ? e->last - KEPT + 1 : 1;
    if (s->next < first) s->next = first;
    while (s->next <= e->last && !event_of(e, s->next)) s->next++;
    s->at = 0;
    const int n = snprintf(to, room, "event: lost\ndata: {\"from\":%llu,\"to\":%llu}\n\n", (unsigned long long)from,
                           (unsigned long long)s->next - 1);
    return (size_t)n < room ? (size_t)n : 0;
}

static ssize_t read_events(void *userdata, char *to, size_t room) {
    subscriber *s = userdata;
    size_t n = 0;
    if (s->heartbeat && s->at == 0 && room > 16) {
        n = (size_t)snprintf(to, room, ": still here\n\n");
        s->heartbeat = false;
    }
    while (s->next <= s->of->last && n + 128 < room) {
        const event *v = event_of(s->of, s->next);
        if (!v) {
            n += lost(s, to + n, room - n);
            continue;
        }
        const bool wanted = s->topics >> v->topic & 1;
        const size_t left = wanted ? v->size - s->at : 0, copied = left < room - n ? left : room - n;
        memcpy(to + n, v->text + s->at, copied);
        n += copied, s->at += copied;
        if (copied < left) break;
        s->next++, s->at = 0;
    }
    return (ssize_t)n;
}

static void end_subscriber(void *userdata) {
    subscriber *s = userdata;
    *(s->before ? &s->before->after : &s->of->subscribers) = s->after;
    if (s->after) s->after->before = s->before;
    s->of->n--;
    s->of->left = uv_now(s->of->heartbeat.loop);
    free(s);
}

static bool read_topics(const char *list, unsigned *set) {
    *set = list && *list ? 0 : ~0u;
    while (list && *list) {
        const size_t n = strcspn(list, ",");
        int k = 0;
        while (k < EVENT_TOPIC_COUNT && (strlen(names[k]) != n || memcmp(names[k], list, n) != 0)) k++;
        if (k == EVENT_TOPIC_COUNT) return false;
        *set |= 1u << k;
        list += n + (list[n] == ',');
    }
    return true;
}

bool events_subscribe(events *e, http_request *r, const char *topics, const char *last) {
    unsigned set;
    if (!read_topics(topics, &set)) return false;
    subscriber *s = calloc(1, sizeof *s);
    const uint64_t seen = last ? strtoull(last, NULL, 10) : e->last;
    if (!s) return false;
    *s = (subscriber){
        .of = e, .r = r, .next = (seen > e->last ? 0 : seen) + 1, .topics = set, .heartbeat = true, .after = e->subscribers};
    if (s->after) s->after->before = s;
    e->subscribers = s;
    e->n++;
    http_stream(r, "text/event-stream", read_events, end_subscriber, s);
    return true;
}

/* ---- making them ---- */

static void wake(events *e, unsigned topics) {
    for (subscriber *s = e->subscribers, *after; s; s = after) {
        after = s->after;
        if (s->topics & topics || s->heartbeat) http_wake(s->r);
    }
}

bool events_wanted(const events *e, event_topic topic) {
    for (const subscriber *s = e->subscribers; s; s = s->after)
        if (s->topics >> topic & 1) return true;
    return false;
}

/* What is told of the moment is for those who listen now; the others also for who listened a moment ago and may come again:
 * else the number alone goes on. */
json *events_begin(events *e, event_topic topic) {
    const bool is_kept = topic == EVENT_run || topic == EVENT_program;
    if (!e->n && !is_kept) return NULL;
    if (!e->n && uv_now(e->heartbeat.loop) - e->left > AWAY_MS) {
        e->last++;
        return NULL;
    }
    e->making = (event){.id = e->last + 1, .topic = topic};
    FILE *out = open_memstream(&e->making.text, &e->making.size);
    if (!out) return NULL;
    fprintf(out, "id: %llu\nevent: %s\ndata: ", (unsigned long long)e->making.id, names[topic]);
    e->j = (json){.out = out};
    json_open(&e->j, '{');
    return &e->j;
}

void events_end(events *e) {
    json_close(&e->j, '}');
    fputs("\n\n", e->j.out);
    if (fclose(e->j.out)) return;
    event *to = &e->kept[e->making.id % KEPT];
    free(to->text);
    *to = e->making;
    e->last = e->making.id;
    wake(e, 1u << to->topic);
}

static void on_heartbeat(uv_timer_t *t) {
    events *e = t->data;
    for (subscriber *s = e->subscribers; s; s = s->after) s->heartbeat = true;
    wake(e, 0);
}

events *events_new(uv_loop_t *loop) {
    events *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    uv_timer_init(loop, &e->heartbeat);
    e->heartbeat.data = e;
    uv_timer_start(&e->heartbeat, on_heartbeat, HEARTBEAT_MS, HEARTBEAT_MS);
    return e;
}

unsigned events_clients(const events *e) {
    return e->n;
}
