"""Makes the environment of a checkout: `.venv` with Python packages and, through links, the JVM jars.

Run by `make setup` as `python -m ci.tools.setup`, with the Python of the new environment. Each step has a key, the hash
of its pins, and is skipped if its result exists. Downloads and builds are kept in a cache that clones share, so that
setting up a second clone takes seconds.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ci.tools import maven, python_packages
from ci.tools.cache import ROOT, VENV, cached_folder, files_below, hash_of, java, link, run
from ci.tools.progress import Progress


def class_archive() -> bool:
    """Train the archive of JVM classes, which halves the start of a processor. It fits one JVM and its jars."""
    runner = ROOT / "image/src/lsql_runner"
    trained_by = [ROOT / "image/recipe/train.py", *files_below(runner / "jvm")]
    jars = _identity(maven.cached_jars(maven.RUNNER_JARS), python_packages.packages_folder())
    key = hash_of([path for path in trained_by if path.suffix == ".py"], *jars)

    def build(folder: Path) -> None:
        train = [VENV / "bin/python", ROOT / "image/recipe/train.py", folder / "classes.jsa"]
        run(train, show=False, environment={"PYTHONPATH": str(ROOT)})

    built = cached_folder("classes", key, build, lock="classes")
    link(VENV / "share/lsql-runner/classes.jsa", Path("classes/classes.jsa"))
    return built


def broker_class_archive() -> bool:
    """Train the archive of the classes of the test broker."""

    def build(folder: Path) -> None:
        run([VENV / "bin/python", "-m", "devkit.broker", folder / "classes.jsa"], show=False)

    key = hash_of([ROOT / "devkit/broker.py"], *_identity(maven.cached_jars("broker-jars")))
    return cached_folder("broker-classes", key, build, lock="classes")


def _identity(*jars: Path) -> list[str]:
    """What an archive of classes fits: the JVM refuses it if the jars have another modification time."""
    version = subprocess.run([java(), "-version"], capture_output=True, text=True, check=True).stderr
    return [version, *(f"{folder} {folder.stat().st_mtime_ns}" for folder in jars)]


def python_environment() -> bool:
    """The Python packages, and lsql-runner."""
    built = python_packages.python_packages()
    return python_packages.own_package() or built


Step = tuple[str, Callable[[], bool]]
FIRST: Step = ("Environment for Python", python_packages.new_environment)
TOGETHER: list[Step] = [
    ("Python packages (the first time about 500 MB are downloaded)", python_environment),
    (
        "Test broker, schema registry (the first time about 120 MB)",
        lambda: maven.jar_folders(*(name for name in maven.FOLDERS if name != maven.RUNNER_JARS)),
    ),
]
LAST: list[Step] = [
    ("JVM jars", lambda: maven.jar_folders(maven.RUNNER_JARS)),
    ("Class archive of the JVM", class_archive),
    ("Class archive of the test broker", broker_class_archive),
]


def main() -> None:
    """Run the steps, independent ones at the same time; print a line when each ends."""
    began = time.monotonic()
    with Progress(sys.stdout) as progress:
        progress.step(*FIRST)
        with ThreadPoolExecutor(len(TOGETHER)) as threads:
            running = [threads.submit(progress.step, title, work) for title, work in TOGETHER]
        for step in running:
            step.result()
        for title, work in LAST:
            progress.step(title, work)
    print(f"set up in {time.monotonic() - began:.0f} s: Python {sys.version.split()[0]}, {VENV}", flush=True)


if __name__ == "__main__":
    main()
