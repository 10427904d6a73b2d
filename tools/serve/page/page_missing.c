/* page_missing.c: stands in for the page where it could not be bundled. */
#include "page_files.h"

static const char text[] =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
    "<meta name=\"color-scheme\" content=\"light dark\"><title>rvm serve: no page</title>"
    "<h1>This server was built without its page</h1>"
    "<p>The page needs npm when rvm is built, and a network for npm the first time: install <code>nodejs</code> and "
    "<code>npm</code>, "
    "and build again. What the build said about it stands in <code>page.log</code> of its folder "
    "<code>tools/serve</code>.</p>"
    "<p>The API is there all the same: <code>/api/v1</code>, described in <code>docs/server.md</code>; "
    "<code>rvm run --server URL</code> uses it.</p></html>";

const page_file page_files[] = {
    {"/", "text/html; charset=utf-8", "\"missing\"", (const unsigned char *)text, sizeof text - 1, false}};
const size_t page_files_count = 1;
const bool page_is_whole = false;
