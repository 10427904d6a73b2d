/* page_files.h: the page of rvm serve, as files in this program. Where it could not be bundled (no npm, or no network at
 * first), there is one that says so in its place. */
#ifndef RVM_SERVE_PAGE_FILES_H
#define RVM_SERVE_PAGE_FILES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct page_file {
    const char *path; /* as in a request: "/" or "/page.js" */
    const char *type; /* Content-Type */
    const char *etag; /* with its quotes: a hash of the content */
    const unsigned char *bytes;
    size_t size;
    bool gzipped; /* Content-Encoding: gzip */
} page_file;

extern const page_file page_files[];
extern const size_t page_files_count;
extern const bool page_is_whole; /* false: page_missing.c stands in */

#endif
