#!/bin/sh
# Installs ipset if it is missing, for the tests of NetworkPolicies. Root on a Debian gets it by apt-get; for others it
# prints what to install and exits with 2.
set -eu

PATH="$PATH:/usr/sbin:/sbin"
command -v ipset >/dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing ipset with apt-get"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends ipset >/dev/null
    command -v ipset >/dev/null && exit 0
fi
echo "missing: ipset (Debian: apt-get install ipset)" >&2
exit 2
