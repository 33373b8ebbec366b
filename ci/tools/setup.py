"""Makes the working environment of a checkout: `.venv` with Python packages and, through links, the JVM jars.

Run by `make setup` with the Python that the environment is to have. Everything is keyed by the hash of its
pins: what is there already is not built again. Downloads and jars are kept in a cache that clones share; a
folder of jars appears there by one rename, complete, so clones can set up at the same time.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lsql-runner"
BUILD_LOCK = ROOT / "image/requirements-build.txt"
LOCKS = [ROOT / "image/requirements.txt", ROOT / "tests/requirements.txt"]


def hash_of(paths: list[Path], *more: str) -> str:
    """Returns 16 hex digits for the names and bytes of the files, and the strings."""
    digest = hashlib.sha256("\0".join(more).encode())
    for path in sorted(paths):
        content = path.read_bytes()
        digest.update(f"\0{path.relative_to(ROOT).as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def stamped(name: str, key: str, build: Callable[[], None]) -> bool:
    """Runs `build` unless the stamp `name` in `.venv` holds `key`; returns whether it ran."""
    stamp = VENV / "share/lsql-runner" / f"{name}.stamp"
    if stamp.is_file() and stamp.read_text() == key:
        return False
    build()
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(key)
    return True


@contextmanager
def cache_lock(name: str) -> Iterator[None]:
    """Holds a lock that all clones of this user share; the system frees it should the process die."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def cached_folder(name: str, key: str, build: Callable[[Path], None], lock: str = "maven") -> bool:
    """Links `.venv/share/lsql-runner/<name>` to the cache's folder for `key`; returns whether it built.

    One build at a time holds the lock: Maven's own repository does not bear two writers.
    """
    folder = CACHE / f"{name}-{key}"
    missing = not folder.is_dir()
    if missing:
        with (
            cache_lock(lock),
            tempfile.TemporaryDirectory(dir=CACHE, prefix=f"{name}-building-") as scratch,
        ):
            if not folder.is_dir():
                staging = Path(scratch) / name
                staging.mkdir()
                build(staging)
                staging.rename(folder)
    link = VENV / "share/lsql-runner" / name
    if not (link.is_symlink() and link.readlink() == folder):
        link.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=link.parent) as scratch:  # in one step, should another set-up run here too
            made = Path(scratch) / name
            made.symlink_to(folder)
            made.replace(link)
    return missing


def run(argv: list[str | Path], show: bool = True, environment: dict[str, str] | None = None) -> None:
    """Runs a command in the checkout; its failure shows its output, and ends the set-up with one line."""
    output = None if show else subprocess.PIPE
    variables = os.environ | (environment or {})
    result = subprocess.run(argv, cwd=ROOT, check=False, text=True, stdout=output, stderr=output, env=variables)
    if result.returncode:
        print(f"\n{result.stdout or ''}{result.stderr or ''}", flush=True)
        command = " ".join(str(arg) for arg in argv[:6])
        raise SystemExit(f"set-up failed: `{command} ...` ended with {result.returncode}; its output is above")


def maven(*args: str | Path) -> None:
    """Runs Maven, silent when all is well."""
    run(["mvn", "--batch-mode", "--quiet", "-Dstyle.color=never", *args], show=False)


def pip(*args: str | Path) -> None:
    """Runs the environment's pip with the shared cache; chatty only for a person at a terminal."""
    quiet = [] if sys.stdout.isatty() else ["--quiet"]
    run(
        [
            VENV / "bin/python",
            "-m",
            "pip",
            "--disable-pip-version-check",
            "--cache-dir",
            CACHE / "pip",
            *quiet,
            *args,
        ]
    )


def python_packages() -> bool:
    """Fills a new `.venv` with exactly what the lock files name."""

    def build() -> None:
        print("a minute or so; the first time it downloads about 500 MB ... ", end="", flush=True)
        run([sys.executable, "-m", "venv", "--clear", VENV])
        # First the tools that build the others, so that no build fetches tools of its own, unpinned.
        pip("install", "--require-hashes", "-r", BUILD_LOCK)
        lists = [arg for lock in LOCKS for arg in ("-r", lock)]
        pip("install", "--require-hashes", "--no-build-isolation", *lists)

    alive = (VENV / "bin/python").exists()
    if not alive:
        shutil.rmtree(VENV, ignore_errors=True)
    return stamped("packages", hash_of([BUILD_LOCK, *LOCKS], sys.version, sys.executable, str(ROOT)), build)


def own_package() -> bool:
    """Installs the runner itself as an editable package: the environment runs the checkout's sources."""
    project = ROOT / "image/pyproject.toml"
    return stamped(
        "project",
        hash_of([project]),
        lambda: pip("install", "--no-deps", "--no-build-isolation", "--editable", project.parent),
    )


def runner_jars() -> bool:
    """Resolves the jars beside Spark's own and builds ours."""
    pom, sinks, module = ROOT / "image/pom.xml", ROOT / "image/sinks-pom.xml", ROOT / "image/jvm"
    sources = [path for path in (module / "src/main").rglob("*") if path.is_file()]

    def build(folder: Path) -> None:
        copy_dependencies(pom, folder)
        copy_dependencies(sinks, folder / "sinks")
        with tempfile.TemporaryDirectory(dir=CACHE, prefix="jvm-building-") as target:
            skip = "-Dmaven.test.skip=true"  # `make test-java` runs them; set-up needs the jar only
            maven("-f", module / "pom.xml", "package", skip, f"-Dlsql.target={target}")
            for jar in Path(target).glob("lsql-jvm-*.jar"):
                jar.rename(folder / jar.name)

    return cached_folder("jars", hash_of([pom, sinks, module / "pom.xml", *sources]), build)


def class_archive() -> bool:
    """Trains the archive of JVM classes that halves a processor's start. It fits one JVM and one `.venv`."""
    java = Path(os.environ["JAVA_HOME"], "bin/java") if os.environ.get("JAVA_HOME") else Path("java")
    version = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    module = [path for path in (ROOT / "image/jvm/src/main").rglob("*") if path.is_file()]
    runner = ROOT / "image/src/lsql_runner"
    trained_by = [ROOT / "image/recipe/train.py", runner / "jvm/spark_jvm.py", runner / "jvm/java.py"]
    archive = VENV / "share/lsql-runner/classes.jsa"

    def build() -> None:
        fresh = archive.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        run(
            [VENV / "bin/python", ROOT / "image/recipe/train.py", fresh],
            show=False,
            environment={"PYTHONPATH": str(ROOT)},
        )
        fresh.replace(archive)

    return stamped("classes", hash_of([*LOCKS, ROOT / "image/pom.xml", *module, *trained_by], version), build)


def broker_jars() -> bool:
    """Resolves the jars of the test broker."""
    pom = ROOT / "devkit/pom.xml"
    return cached_folder("broker-jars", hash_of([pom]), lambda folder: copy_dependencies(pom, folder))


def registry_jars() -> bool:
    """Unpacks the schema registry of the tests."""
    pom = ROOT / "devkit/registry-pom.xml"

    def build(folder: Path) -> None:
        with tempfile.TemporaryDirectory(dir=CACHE, prefix="registry-archive-") as scratch:
            copy_dependencies(pom, Path(scratch))
            [archive] = Path(scratch).iterdir()
            shutil.unpack_archive(archive, folder)

    return cached_folder("registry", hash_of([pom]), build)


def differential_jars() -> bool:
    """Builds the Kafka Streams topologies that the programs are compared with."""
    module = ROOT / "tests/differential"
    pom = module / "pom.xml"
    sources = [path for path in (module / "src").rglob("*") if path.is_file()]

    def build(folder: Path) -> None:
        copy_dependencies(pom, folder)
        with tempfile.TemporaryDirectory(dir=CACHE, prefix="differential-building-") as target:
            maven("-f", pom, "package", f"-Dlsql.target={target}")
            for jar in Path(target).glob("lsql-differential-*.jar"):
                jar.rename(folder / jar.name)

    return cached_folder("differential-jars", hash_of([pom, *sources]), build)


def copy_dependencies(pom: Path, folder: Path) -> None:
    """Puts the run-time jars that a pom lists into a folder."""
    maven("-f", pom, "dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={folder}")


STEPS: list[tuple[str, Callable[[], bool]]] = [
    ("Python packages", python_packages),
    ("lsql-runner, editable", own_package),
    ("JVM jars of the runner", runner_jars),
    ("JVM jars of the test broker", broker_jars),
    ("Schema registry of the tests", registry_jars),
    ("Kafka Streams topologies of the tests", differential_jars),
    ("Class archive of the JVM", class_archive),
]


def main() -> None:
    """Runs the steps in order, each shown with what it did."""
    total = len(STEPS) + 1
    print(f"[1/{total}] prerequisites: Python {sys.version.split()[0]}, JDK and Maven found", flush=True)
    for number, (title, step) in enumerate(STEPS, start=2):
        print(f"[{number}/{total}] {title}: ", end="", flush=True)
        print("done" if step() else "up to date", flush=True)


if __name__ == "__main__":
    main()
