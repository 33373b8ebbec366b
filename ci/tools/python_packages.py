"""The Python packages of a checkout: one folder in the cache for each set of pins, which the `.venv`s of clones share.

Each `.venv` has its own interpreter, scripts and editable lsql-runner. A `.pth` file adds the shared packages.
"""

import os
import re
import shutil
import sys
from pathlib import Path

from ci.tools.cache import CACHE, ROOT, VENV, cached_folder, folder_of, hash_of, java, link, run, stamped

BUILD_LOCK = ROOT / "image/requirements-build.txt"
LOCKS = [ROOT / "image/requirements.txt", ROOT / "tests/requirements.txt"]
LAMBDA_CLASSES = ROOT / "image/recipe/LambdaClasses.java"
NAME = "python"
LIBRARY = Path(f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages")
LONGEST_SHEBANG = 127
"""The length of a script's first line that an old Linux reads."""


def key() -> str:
    """The key of the packages: the pins, the interpreter, and the code that installs them."""
    return hash_of([BUILD_LOCK, *LOCKS, LAMBDA_CLASSES, Path(__file__).resolve()], sys.version, sys.executable)


def packages_folder() -> Path:
    """The folder in the cache with the packages."""
    return folder_of(NAME, key())


def new_environment() -> bool:
    """Make an empty `.venv`, unless there is one for this interpreter, these packages and this path."""

    def build() -> None:
        shutil.rmtree(VENV, ignore_errors=True)
        run([sys.executable, "-m", "venv", "--without-pip", VENV])

    if not (VENV / "bin/python").exists():
        shutil.rmtree(VENV, ignore_errors=True)
    return stamped("environment", hash_of([], key(), str(ROOT)), build)


def python_packages() -> bool:
    """Fill the shared folder with exactly the packages of the lock files, and add it to the `.venv`."""
    built = cached_folder(NAME, key(), install, lock="python")
    return stamped("packages", f"{packages_folder()}", use_packages) or built


def install(folder: Path) -> None:
    """Make an environment in a folder and install the packages of the lock files."""
    run([sys.executable, "-m", "venv", folder])
    # pyspark is 450 MB of source, mostly jars, so its wheel is not compressed.
    uncompressed = folder / "uncompressed.cfg"
    uncompressed.write_text("[bdist_wheel]\ncompression = stored\n")
    # Build tools first, so that no build downloads unpinned tools.
    pip(folder, "install", "--require-hashes", "-r", BUILD_LOCK)
    lists = [argument for lock in LOCKS for argument in ("-r", str(lock))]
    pip(
        folder,
        "install",
        "--require-hashes",
        "--no-build-isolation",
        *lists,
        environment={"DIST_EXTRA_CONFIG": str(uncompressed)},
    )
    convert_lambdas(folder / LIBRARY / "pyspark/jars")


def convert_lambdas(jars: Path) -> None:
    """Convert the lambdas in Spark's jars to classes, as the image does: the class archive cannot contain lambdas."""
    [asm] = jars.glob("xbean-asm9-shaded-*.jar")
    run([java(), "-cp", asm, LAMBDA_CLASSES, *sorted(jars.glob("*.jar"))], show=False)


def pip(folder: Path, *arguments: str | Path, environment: dict[str, str] | None = None) -> None:
    """Run the pip of an environment with the shared cache; prints nothing unless it fails.

    Modules are compiled on their first import, because most are never imported.
    """
    options: list[str | Path] = ["--quiet", "--disable-pip-version-check", "--cache-dir", CACHE / "pip"]
    variables = {"PIP_NO_COMPILE": "1", "PIP_NO_INPUT": "1", **(environment or {})}
    run([folder / "bin/python", "-m", "pip", *options, *arguments], show=False, environment=variables)


def use_packages() -> None:
    """Add the shared packages and their scripts to the `.venv`, with a link to Spark's jars for Maven."""
    shared = packages_folder()
    link(VENV / "share/lsql-runner/spark-jars", shared / LIBRARY / "pyspark/jars")
    library = VENV / LIBRARY
    # With addsitedir, because .pth files in a folder that a .pth file names are not read.
    (library / "lsql-runner-packages.pth").write_text(f"import site; site.addsitedir({str(shared / LIBRARY)!r})\n")
    for path in (shared / "bin").iterdir():
        if path.is_file() and not re.match(r"python|[Aa]ctivate", path.name):
            take_script(path, VENV / "bin" / path.name)


def take_script(source: Path, target: Path) -> None:
    """Copy a Python script so that it runs in the `.venv`; link any other program."""
    target.unlink(missing_ok=True)
    content = source.read_bytes()
    match = re.match(rb"(#!/bin/sh\n'''exec' \"[^\n]*\n' '''|#![^\n]*python[0-9.]*)\n", content)
    if not match:
        target.symlink_to(source)
        return
    target.write_bytes(first_lines(VENV / "bin/python") + content[match.end() :])
    target.chmod(0o755)


def first_lines(python: Path) -> bytes:
    """The first lines of a script that run it with an interpreter at any path, as pip writes them."""
    if len(os.fsencode(python)) + 3 <= LONGEST_SHEBANG and " " not in str(python):
        return f"#!{python}\n".encode()
    return f"#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\n".encode()


def own_package() -> bool:
    """Install the runner as an editable package, so that the environment runs the sources of the checkout."""
    project = ROOT / "image/pyproject.toml"
    return stamped(
        "project",
        hash_of([project]),
        lambda: pip(VENV, "install", "--no-deps", "--no-build-isolation", "--editable", project.parent),
    )
