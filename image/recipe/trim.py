"""Removes unused files from an environment: `trim.py <environment> <file with patterns of unused jars>`.

Runs in the build of the image, on the environment with all packages and jars. Prints the size before and after.
"""

import platform
import shutil
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

NATIVE = (".so", ".jnilib", ".dylib", ".dll", ".a")
"""Endings of native code inside jars."""

PLATFORM_NAMES = {
    "x86_64": ("linux64", "linux-x86_64", "linux/amd64", "linux/x86_64", "Linux/x86_64"),
    "aarch64": ("linux-aarch64", "linux/aarch64", "Linux/aarch64"),
}
"""The names of a platform in the paths of native code, by the machine of the build."""

SIGNATURES = (".SF", ".RSA", ".DSA")
"""Endings of a jar's signatures: the JVM's ahead-of-time cache contains no classes of signed jars."""

DESCRIBED_SETTINGS = {"core-default.xml"}
"""Files of settings that Hadoop reads nine times before the first record; two thirds of their text are descriptions."""

UNUSED_FOLDERS = ("pyspark/examples", "pyspark/data", "pyspark/sbin", "pyspark/licenses", "pyspark/python")
UNUSED_FILES = ("*.pyi", "*.pyx", "*.pxd", "pyspark/bin/*.cmd")


def size_of(folder: Path) -> int:
    """The size of all files below a folder, in bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def drop_jars(jars: Path, patterns: list[str]) -> None:
    """Delete the jars that match a pattern; a pattern that matches nothing is an error."""
    for pattern in patterns:
        found = list(jars.glob(pattern))
        if not found:
            raise SystemExit(f"no jar matches {pattern}: Spark's list has changed, so must this one")
        for path in found:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def trim_jar(jar: Path) -> None:
    """Rewrite a jar without native code for other platforms, signatures and descriptions; a jar without these is not
    changed.
    """
    with zipfile.ZipFile(jar) as old:
        entries = old.infolist()
        unused = {e.filename for e in entries if is_foreign(e.filename) or is_signature(e.filename)}
        described = {e.filename for e in entries} & DESCRIBED_SETTINGS
        if not unused and not described:
            return
        fresh = jar.with_suffix(".new")
        with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as new:
            for entry in entries:
                if entry.filename not in unused:
                    content = old.read(entry)
                    new.writestr(entry, without_descriptions(content) if entry.filename in described else content)
    fresh.replace(jar)


def without_descriptions(configuration: bytes) -> bytes:
    """Hadoop's settings without comments and descriptions: names and values, in their order."""
    settings = ElementTree.fromstring(configuration)
    for setting in settings:
        for child in [child for child in setting if child.tag not in ("name", "value", "final")]:
            setting.remove(child)
    for element in settings.iter():
        element.tail = None
        if len(element):
            element.text = None
    return ElementTree.tostring(settings, encoding="utf-8", xml_declaration=True)


def is_foreign(name: str) -> bool:
    """Whether an entry of a jar is native code for another platform (including musl)."""
    if not name.endswith(NATIVE):
        return False
    return "musl" in name or not any(word in name for word in PLATFORM_NAMES[platform.machine()])


def is_signature(name: str) -> bool:
    """Whether an entry of a jar belongs to its signature. The digests in the manifest are then unused."""
    return name.startswith("META-INF/") and name.endswith(SIGNATURES)


def trim(environment: Path, patterns: list[str]) -> None:
    """Trim the environment. A pattern that matches no jar is an error."""
    packages = next(environment.glob("lib/python3*/site-packages"))
    jars = packages / "pyspark/jars"
    drop_jars(jars, patterns)
    for jar in [*jars.glob("*.jar"), *environment.glob("share/lsql-runner/jars/**/*.jar")]:
        trim_jar(jar)
    for name in UNUSED_FOLDERS:
        shutil.rmtree(packages / name, ignore_errors=True)
    for folder in [path for path in packages.rglob("tests") if path.is_dir()]:
        shutil.rmtree(folder)
    for pattern in UNUSED_FILES:
        for path in [*packages.rglob(pattern)] if "/" not in pattern else [*packages.glob(pattern)]:
            path.unlink()


def main() -> None:
    environment, unused = Path(sys.argv[1]), Path(sys.argv[2])
    lines = [line for line in unused.read_text().splitlines() if not line.startswith("#")]
    before = size_of(environment)
    trim(environment, " ".join(lines).split())
    print(f"trimmed from {before >> 20} to {size_of(environment) >> 20} MiB")


if __name__ == "__main__":
    main()
