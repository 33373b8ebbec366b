#!/bin/sh
# Installs if missing: a Kerberos server (KDC) for the tests of brokers behind Kerberos. Root on a Debian gets it by
# apt-get; for others it prints what to install and exits with 2.
set -eu

PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
complete() {
    for program in krb5kdc kdb5_util kadmin.local; do
        command -v "$program" >/dev/null || return 1
    done
}

complete && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing krb5-kdc and krb5-admin-server with apt-get"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends krb5-kdc krb5-admin-server >/dev/null
    complete && exit 0
fi
echo "missing: MIT Kerberos. Install: krb5kdc, kdb5_util, kadmin.local (Debian: apt-get install krb5-kdc krb5-admin-server)" >&2
exit 2
