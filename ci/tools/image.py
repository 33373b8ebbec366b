"""Builds the image with podman: `python -m ci.tools.image [--tag NAME]`, or `make image`. Prints its name last.

BASE_IMAGE names the Debian trixie image to build on, for example with a digest: `debian:trixie-slim@sha256:...`. The
default is Debian's slim image or, without access to a registry, an image that mmdebstrap makes of Debian's packages.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from ci.tools.cache import CACHE, ROOT

PUBLIC_BASE = "debian:trixie-slim"
PULL_S = 120
BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")
"""Files of trusted certificates, which may include the certificate of a proxy that inspects TLS."""

LOCKS = {"PYTHON": "image/requirements.txt", "JARS": "image/jars.sha256"}
"""The lock files of what the image contains, whose checksums are labels."""

EXCLUDED = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/lintian/*")
"""Files that Debian's slim images do not have."""


def say(text: str) -> None:
    print(text, flush=True)


def version() -> str:
    """The version of the package, which the image also has."""
    return str(tomllib.loads((ROOT / "image/pyproject.toml").read_text())["project"]["version"])


def default_tag() -> str:
    """The default name of the image."""
    return f"localhost/lsql-runner:{version()}"


def has_image(name: str) -> bool:
    return subprocess.run(["podman", "image", "exists", name], check=False).returncode == 0


@contextmanager
def image_root(image: str) -> Iterator[Path]:
    """The files of the image, mounted within the block."""
    root = Path(podman("image", "mount", image).strip())
    try:
        yield root
    finally:
        podman("image", "unmount", image)


def podman(*args: str) -> str:
    """The output of a command. CalledProcessError if it fails."""
    return subprocess.run(["podman", *args], check=True, capture_output=True, text=True).stdout


def base_image() -> str:
    """The name of the base image; pulls or creates a missing one."""
    given = os.environ.get("BASE_IMAGE")
    if given:
        return given
    made = f"localhost/lsql-runner-base:trixie-{datetime.now(UTC):%Y-%m}"  # a new base each month
    if has_image(made):
        return made
    if has_image(PUBLIC_BASE):
        return PUBLIC_BASE
    if can_pull(PUBLIC_BASE):
        return PUBLIC_BASE
    say(f"{PUBLIC_BASE} cannot be pulled: creating a base image from Debian's packages")
    make_base(made)
    return made


def can_pull(name: str) -> bool:
    """Pull an image; returns whether that succeeds within PULL_S."""
    try:
        pulled = subprocess.run(["podman", "pull", "--quiet", name], check=False, capture_output=True, timeout=PULL_S)
    except subprocess.TimeoutExpired:
        return False
    return pulled.returncode == 0


def make_base(name: str) -> None:
    """Create a minimal Debian trixie image."""
    if shutil.which("mmdebstrap") is None:
        raise SystemExit("missing: mmdebstrap. Install: apt-get install mmdebstrap, or name a base: BASE_IMAGE=...")
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        archive = Path(scratch, "base.tar")
        without = [f"--dpkgopt=path-exclude={pattern}" for pattern in EXCLUDED]
        run(["mmdebstrap", "--quiet", "--variant=minbase", *without, "trixie", archive])
        run(["podman", "import", "--quiet", archive, name], quiet=True)


def run(argv: list[str | Path], quiet: bool = False) -> None:
    """Run a command. If it fails, end the build with one line."""
    output = subprocess.DEVNULL if quiet else None
    code = subprocess.run(
        argv, check=False, stdout=output, env=os.environ | {"TMPDIR": str(scratch_folder())}
    ).returncode
    if code:
        raise SystemExit(f"the image was not built: `{' '.join(str(arg) for arg in argv[:3])} ...` ended with {code}")


def scratch_folder() -> Path:
    """The folder of podman's download caches, in the cache of this project."""
    folder = CACHE / "podman"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def revision() -> str:
    """The commit of the checkout, with `-dirty` if a file of the image differs from it."""
    commit = output(["git", "-C", ROOT, "rev-parse", "HEAD"])
    changed = output(["git", "-C", ROOT, "status", "--porcelain", "--", "image", "devkit/pom.xml"])
    return f"{commit}-dirty" if commit and changed else commit or "unknown"


def digest(name: str) -> str:
    """The digest of a base image; pulls an image that is not on this machine."""
    if not has_image(name):
        can_pull(name)
    return output(["podman", "image", "inspect", "--format", "{{.Digest}}", name]) or "unknown"


def checksum(lock: str) -> str:
    """The checksum of a lock file."""
    return f"sha256:{hashlib.sha256((ROOT / lock).read_bytes()).hexdigest()}"


def output(argv: list[str | Path]) -> str:
    """The output of a command; empty if it fails."""
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def build(tag: str) -> None:
    """Build the image; layers with unchanged inputs are reused from the last build."""
    bundle = next((path for path in BUNDLES if Path(path).exists()), None)
    command: list[str | Path] = [
        "podman",
        "build",
        "--isolation",
        "chroot",
        "--network",
        "host",
        "--layers",
        "--jobs=2",
    ]
    command += [f"--secret=id=ca,src={bundle}"] if bundle else []
    base = base_image()
    arguments = {
        "BASE_IMAGE": base,
        "BASE_DIGEST": digest(base),
        "PYTHON_LOCK": checksum(LOCKS["PYTHON"]),
        "JARS_LOCK": checksum(LOCKS["JARS"]),
        "VERSION": version(),
        "REVISION": revision(),
        "CREATED": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    command += [f"--build-arg={name}={value}" for name, value in arguments.items()]
    run([*command, "--format", "oci", "--tag", tag, "--file", ROOT / "image/Containerfile", ROOT], quiet=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tag", default=default_tag())
    tag = parser.parse_args().tag
    if shutil.which("podman") is None:
        raise SystemExit("missing: podman. Install: apt-get install podman")
    CACHE.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    build(tag)
    say(f"built in {time.monotonic() - started:.0f} s")
    say(tag)


if __name__ == "__main__":
    main()
