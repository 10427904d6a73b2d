#!/bin/sh
# What rvm serve says where it cannot begin. serve.sh FOLDER_OF_BINARIES
. "$(dirname "$0")/expect.sh"

expect 0 'usage: rvm serve*--listen*--token-file' rvm serve --help
if [ ! -x "$bin/rvm-serve" ]; then
    expect 2 'the server was not built: *not installed then*USAGE' rvm serve
    finish
fi
expect 2 'workers is from 1 to 256*USAGE' rvm serve --workers 0
expect 2 'log is off, error, info or request, not `loud`*USAGE' rvm serve --log loud
expect 2 'has no option `--lisen`; did you mean --listen' rvm serve --lisen 1
expect 3 'listen x: HOST:PORT or unix:PATH*IO' rvm serve --store off --listen x
expect 3 'listen 192.0.2.1:1: *IO' rvm serve --store off --listen 192.0.2.1:1
expect 3 '/nonexistent/x.db: *IO' rvm serve --listen 127.0.0.1:0 --store /nonexistent/x.db
expect 3 'nothing.rasm: error: cannot read*IO' rvm serve --listen 127.0.0.1:0 --store off nothing.rasm
expect 3 'no token can be read there*IO' rvm serve --listen 127.0.0.1:0 --store off --token-file /dev/null
printf 'short\n' >token
expect 3 'a token has 16 letters at least*IO' rvm serve --listen 127.0.0.1:0 --store off --token-file token
touch file
expect 3 'listen unix:file: Address already in use*IO' rvm serve --listen unix:file --store off
expect 0 '*' test -f file
finish
