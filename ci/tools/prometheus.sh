#!/bin/sh
# Installs if missing: Prometheus and promtool for the tests of alerts, dashboard and metrics. Root on a Debian gets them
# by apt-get; for others it prints what to install and exits with 2. The server that Debian's package starts by itself is
# not used.
set -eu

complete() {
    command -v prometheus >/dev/null && command -v promtool >/dev/null
}

complete && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing prometheus with apt-get"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends prometheus >/dev/null
    complete && exit 0
fi
echo "missing: Prometheus and promtool (Debian: apt-get install prometheus)" >&2
exit 2
