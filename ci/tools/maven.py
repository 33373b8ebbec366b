"""Provides the JVM jars with one run of Maven: the dependencies of the poms, and our Java module."""

import hashlib
import shutil
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ci.tools.cache import CACHE, ROOT, cached_folders, files_below, folder_of, hash_of, run

REACTOR = ROOT / "ci/tools/pom.xml"
"""Lists all poms, so that one Maven builds them concurrently."""
CHECKSUMS = ROOT / "image/jars.sha256"
RUNNER, SINKS, JVM = ROOT / "image/pom.xml", ROOT / "image/sinks-pom.xml", ROOT / "image/jvm/pom.xml"
BROKER, REGISTRY = ROOT / "devkit/pom.xml", ROOT / "devkit/registry-pom.xml"
DIFFERENTIAL = ROOT / "tests/differential/pom.xml"
FAULTS = ROOT / "tests/faults/pom.xml"
RUNNER_JARS = "jars"
"""The folder whose module is compiled with the jars of pyspark in `.venv`."""


@dataclass(frozen=True)
class Output:
    """The result of a run of Maven: folders named after the artifacts of the poms."""

    folder: Path

    def dependencies(self, pom: Path) -> list[Path]:
        """The jars of a pom's dependencies at run time."""
        folder = self.folder / artifact(pom)
        return sorted(folder.iterdir()) if folder.is_dir() else []

    def jar(self, pom: Path) -> Path:
        """The jar of a module."""
        [path] = (self.folder / "target" / artifact(pom)).glob("*.jar")
        return path


@dataclass(frozen=True)
class JarFolder:
    """A folder of jars: its poms, the other files of its key, and a function that fills it from Maven's output."""

    poms: tuple[Path, ...]
    fill: Callable[[Output, Path], None]
    inputs: tuple[Path, ...] = ()

    def key(self) -> str:
        sources = [path for pom in self.poms for path in files_below(pom.parent / "src/main")]
        return hash_of([*self.poms, *sources, *self.inputs])


def fill_runner(output: Output, folder: Path) -> None:
    """The jars of the runner, of its sinks, and of our module; SystemExit if a jar has another checksum than the pinned
    one.
    """
    move(output.dependencies(RUNNER), folder)
    move(output.dependencies(SINKS), folder / "sinks")
    check(folder, CHECKSUMS.read_text())
    move([output.jar(JVM)], folder)


def fill_broker(output: Output, folder: Path) -> None:
    """The jars of the test broker."""
    move(output.dependencies(BROKER), folder)


def fill_registry(output: Output, folder: Path) -> None:
    """The schema registry of the tests, unpacked."""
    [archive] = output.dependencies(REGISTRY)
    shutil.unpack_archive(archive, folder)


def fill_differential(output: Output, folder: Path) -> None:
    """The Kafka Streams topologies of the comparison."""
    move([*output.dependencies(DIFFERENTIAL), output.jar(DIFFERENTIAL)], folder)


def fill_faults(output: Output, folder: Path) -> None:
    """The Java agent of tests/faults."""
    move(output.dependencies(FAULTS), folder)


FOLDERS: Mapping[str, JarFolder] = {
    RUNNER_JARS: JarFolder((RUNNER, SINKS, JVM), fill_runner, (CHECKSUMS,)),
    "broker-jars": JarFolder((BROKER,), fill_broker),
    "registry": JarFolder((REGISTRY,), fill_registry),
    "differential-jars": JarFolder((DIFFERENTIAL,), fill_differential),
    "faults-jars": JarFolder((FAULTS,), fill_faults),
}


def jar_folders(*names: str) -> bool:
    """Make the named folders of jars, or all, unless the cache has them; returns whether one was missing."""

    def build(staging: Mapping[str, Path]) -> None:
        with tempfile.TemporaryDirectory(dir=CACHE, prefix="maven-output-") as scratch:
            build_all([pom for name in staging for pom in FOLDERS[name].poms], Path(scratch))
            for name, folder in staging.items():
                FOLDERS[name].fill(Output(Path(scratch)), folder)

    # One at a time, because Maven's repository does not support concurrent writers.
    return cached_folders({name: FOLDERS[name].key() for name in names or FOLDERS}, build, lock="maven")


def cached_jars(name: str) -> Path:
    """A folder of jars in the cache."""
    return folder_of(name, FOLDERS[name].key())


def build_all(poms: list[Path], target: Path) -> None:
    """Resolve and build poms with one Maven, each into folders of `target` named after its artifact."""
    maven(
        "--threads=2",
        "--file",
        REACTOR,
        f"--projects={','.join(f':{artifact(pom)}' for pom in poms)}",
        "dependency:copy-dependencies",
        "package",
        "-DincludeScope=runtime",
        f"-DoutputDirectory={target}/${{project.artifactId}}",
        f"-Dlsql.target={target}/target/${{project.artifactId}}",
        "-Dmaven.test.skip=true",  # `make test-java` runs the tests; set-up needs only the jar
    )


def maven(*arguments: str | Path) -> None:
    """The Maven command; it prints nothing unless it fails."""
    run(["mvn", "--batch-mode", "--quiet", "-Dstyle.color=never", *arguments], show=False)


def copy_dependencies(pom: Path, folder: Path) -> None:
    """Copy the run-time jars of a pom's dependencies to a folder."""
    maven("-f", pom, "dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={folder}")


def artifact(pom: Path) -> str:
    """The artifactId of a pom."""
    return ET.parse(pom).getroot().findtext("{http://maven.apache.org/POM/4.0.0}artifactId", "")


def move(files: list[Path], folder: Path) -> None:
    """Move files to a folder."""
    folder.mkdir(exist_ok=True)
    for file in files:
        file.rename(folder / file.name)


def check(folder: Path, checksums: str) -> None:
    """Compare the jars of a folder with lines of sha256sum; SystemExit names those that differ."""
    pinned = {name: digest for digest, name in (line.split() for line in checksums.splitlines())}
    sums = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files_below(folder)
    }
    if different := sorted(name for name in pinned.keys() | sums.keys() if pinned.get(name) != sums.get(name)):
        raise SystemExit(f"set-up failed: {', '.join(different)}: not the jars that {CHECKSUMS.name} pins")
