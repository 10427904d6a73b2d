/* events.h: what happens, as Server-Sent Events. The last ones are kept, so that a client that comes again with
 * Last-Event-ID misses none; who is too slow for them is told so (event `lost`). */
#ifndef RVM_SERVE_EVENTS_H
#define RVM_SERVE_EVENTS_H

#include "http.h"
#include "log.h"

typedef enum event_topic {
#define TOPIC(name, what) EVENT_##name,
#include "topics.def"
    EVENT_TOPIC_COUNT
} event_topic;

typedef struct events events;
events *events_new(uv_loop_t *loop);
/* Whether anybody listens to a topic: else nothing need be made for it. */
bool events_wanted(const events *e, event_topic topic);
/* The open object of an event; NULL: nobody listens, and it is not one to be kept. */
json *events_begin(events *e, event_topic topic);
void events_end(events *e);
/* Answers a request by the stream of some topics: names with commas, or NULL for all. False: a name is none. */
bool events_subscribe(events *e, http_request *r, const char *topics, const char *last);
unsigned events_clients(const events *e);

#endif
