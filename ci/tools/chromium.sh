#!/bin/sh
# Installs if missing: a Chromium for the tests of the page. Root on a Debian gets it by apt-get;
# for others it prints what to install and exits with 2. CHROMIUM names one that is not on the PATH.
set -eu

if [ -n "${CHROMIUM:-}" ]; then
    [ -x "$CHROMIUM" ] && exit 0
    echo "CHROMIUM names $CHROMIUM, which cannot be run" >&2
    exit 2
fi
command -v chromium >/dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing chromium with apt-get"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null && exit 0
fi
echo "missing: Chromium. Install: chromium (Debian: apt-get install chromium), or set CHROMIUM=/path/to/it" >&2
exit 2
