#!/bin/sh
# Installs if missing: PostgreSQL and Redis for the tests of sinks. Root on a Debian gets them by apt-get; for
# others it prints what to install and exits with 2. The servers that Debian's packages start by themselves are not used.
set -eu

complete() {
    command -v redis-server >/dev/null && command -v redis-cli >/dev/null && command -v psql >/dev/null || return 1
    for program in /usr/lib/postgresql/*/bin/initdb; do
        [ -x "$program" ] && return 0
    done
    command -v initdb >/dev/null
}

complete && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing postgresql and redis-server with apt-get"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends postgresql redis-server >/dev/null
    complete && exit 0
fi
echo "missing: PostgreSQL's server and psql, redis-server, redis-cli (Debian: apt-get install postgresql redis-server)" >&2
exit 2
