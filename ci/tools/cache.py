"""The checkout, its `.venv`, and the cache of downloads and builds that all clones of a user share.

Everything in the cache is keyed by a hash of its pins. A folder appears there by one rename, complete, so clones can
set up at the same time.
"""

import fcntl
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lsql-runner"


def hash_of(paths: list[Path], *more: str) -> str:
    """Returns 16 hex digits for the names and bytes of the files, and the strings."""
    digest = hashlib.sha256("\0".join(more).encode())
    for path in sorted(paths):
        content = path.read_bytes()
        digest.update(f"\0{path.relative_to(ROOT).as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def files_below(folder: Path) -> list[Path]:
    """Returns all files below a folder."""
    return [path for path in folder.rglob("*") if path.is_file()]


def stamped(name: str, key: str, build: Callable[[], None]) -> bool:
    """Run `build` unless the stamp `name` in `.venv` has the value `key`; returns whether it ran."""
    stamp = VENV / "share/lsql-runner" / f"{name}.stamp"
    if stamp.is_file() and stamp.read_text() == key:
        return False
    build()
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(key)
    return True


@contextmanager
def cache_lock(name: str) -> Iterator[None]:
    """Hold a lock that all clones of this user share; the system releases it if the process dies."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def cached_folder(name: str, key: str, build: Callable[[Path], None], lock: str = "maven") -> bool:
    """Link `.venv/share/lsql-runner/<name>` to the cache's folder for `key`; returns whether it built the folder."""
    return cached_folders({name: key}, lambda staging: build(staging[name]), lock)


def cached_folders(keys: Mapping[str, str], build: Callable[[Mapping[str, Path]], None], lock: str) -> bool:
    """Link several names to their folders in the cache; returns whether a folder was missing.

    `build` gets an empty folder for each missing name and fills all of them. Only one build at a time holds the lock.
    """

    def missing() -> list[str]:
        return [name for name, key in keys.items() if not folder_of(name, key).is_dir()]

    is_missing = bool(missing())
    if is_missing:
        with cache_lock(lock), tempfile.TemporaryDirectory(dir=CACHE, prefix=f"{lock}-building-") as scratch:
            staging = {name: Path(scratch) / name for name in missing()}
            for folder in staging.values():
                folder.mkdir()
            if staging:
                build(staging)
            for name, folder in staging.items():
                folder.rename(folder_of(name, keys[name]))
    for name, key in keys.items():
        link(VENV / "share/lsql-runner" / name, folder_of(name, key))
    return is_missing


def folder_of(name: str, key: str) -> Path:
    """Returns the cache's folder for a key, whether it exists or not."""
    return CACHE / f"{name}-{key}"


def link(path: Path, target: Path) -> None:
    """Make `path` a symbolic link to `target`, atomically, because another set-up may run in this checkout."""
    if path.is_symlink() and path.readlink() == target:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        new = Path(scratch) / path.name
        new.symlink_to(target)
        new.replace(path)


def run(argv: Sequence[str | Path], show: bool = True, environment: dict[str, str] | None = None) -> None:
    """Run a command in the checkout. If it fails, show its output and end the set-up with one line."""
    output = None if show else subprocess.PIPE
    variables = os.environ | (environment or {})
    result = subprocess.run(argv, cwd=ROOT, check=False, text=True, stdout=output, stderr=output, env=variables)
    if result.returncode:
        command = " ".join(str(arg) for arg in argv[:6])
        said = f"{result.stdout or ''}{result.stderr or ''}"
        raise SystemExit(f"{said}set-up failed: `{command} ...` ended with {result.returncode}; its output is above")


def java() -> Path:
    """The java program: in JAVA_HOME if it is set, else in PATH."""
    return Path(os.environ["JAVA_HOME"], "bin/java") if os.environ.get("JAVA_HOME") else Path("java")
