#!/bin/sh
# Writes the lock files (image/requirements*.txt, tests/requirements.txt): every package pinned, with the hashes of its files.
# Usage: lock.sh PYTHON [--upgrade]. Uses the oldest supported Python, so that the lock suits the newer ones as well.
set -eu
cd "$(dirname "$0")/../.."
python=$1
shift

tools=${XDG_CACHE_HOME:-$HOME/.cache}/lsql-runner/lock-tools-7.6.2
if [ ! -x "$tools/bin/pip-compile" ]; then
    "$python" -m venv --clear "$tools"
    "$tools/bin/pip" install --quiet pip-tools==7.6.2
fi

# The tests use the versions of the image, so the lock file of the image is first.
for list in image/requirements-build image/requirements image/requirements-sbom tests/requirements; do
    echo "locking $list.txt"
    "$tools/bin/pip-compile" --quiet "$@" --generate-hashes --allow-unsafe --strip-extras --no-header \
        --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options \
        --output-file "$list.txt" "$list.in"
done
