"""Provides an object store for the tests, and Hadoop's connector for it: a pinned Go module, and jars.

Run as `python -m ci.tools.object_store`, after set-up. ci/object-store/go.mod and go.sum pin the server, which is built
from source; image/s3a-pom.xml lists the jars. Both go into the cache that clones share.
"""

from functools import partial
from pathlib import Path

from ci.tools.cache import ROOT, cached_folder, hash_of
from ci.tools.go import check_go, go_build, required_go
from ci.tools.maven import copy_dependencies

MODULE = ROOT / "ci/object-store"
PINS = [MODULE / "go.mod", MODULE / "go.sum"]
SERVER = "github.com/versity/versitygw/cmd/versitygw"
CONNECTOR = ROOT / "image/s3a-pom.xml"


def build_server(folder: Path) -> None:
    """Fill a folder with the program of the server."""
    check_go(required_go([(MODULE / "go.mod").read_text()]))
    go_build(MODULE, folder, {SERVER: []})


def main() -> None:
    """Build what the cache does not have."""
    print("Object store: ", end="", flush=True)
    built = cached_folder("object-store", hash_of([*PINS, Path(__file__).resolve()]), build_server, lock="go")
    copied = cached_folder("s3a-jars", hash_of([CONNECTOR]), partial(copy_dependencies, CONNECTOR))
    print("done" if built or copied else "up to date", flush=True)


if __name__ == "__main__":
    main()
