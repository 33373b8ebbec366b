"""Writes a CycloneDX list of everything in the image to standard output: `sbom.py <environment>`.

Debian packages are from dpkg, Python packages from their metadata, jars from their Maven coordinates (or, without
these, their file names), the Java runtime from its release file.
"""

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

POM_PROPERTIES = re.compile(r"META-INF/maven/[^/]+/(?P<artifact>[^/]+)/pom\.properties")
JAR_NAME = re.compile(r"(?P<artifact>.+?)-(?P<version>\d[^-]*(?:-[A-Za-z0-9.]+)*)\.jar")


def debian() -> Iterator[Component]:
    """The Debian packages of the image."""
    listed = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package}\t${Version}\t${Architecture}\n"],
        capture_output=True,
        text=True,
        check=True,
    )
    for line in listed.stdout.splitlines():
        name, version, architecture = line.split("\t")
        purl = PackageURL("deb", "debian", name, version, {"arch": architecture})
        yield Component(name=name, version=version, type=ComponentType.LIBRARY, purl=purl, bom_ref=str(purl))


def python(environment: Path) -> Iterator[Component]:
    """The packages of the virtual environment."""
    for package in distributions(path=[str(path) for path in environment.glob("lib/python3*/site-packages")]):
        purl = PackageURL("pypi", None, package.name.lower().replace("_", "-"), package.version)
        yield Component(
            name=package.name, version=package.version, type=ComponentType.LIBRARY, purl=purl, bom_ref=str(purl)
        )


def jars(environment: Path) -> Iterator[Component]:
    """Every jar, with its checksum."""
    for path in sorted(environment.rglob("*.jar")):
        group, artifact, version = coordinates(path)
        purl = PackageURL("maven", group, artifact, version)
        digest = HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(path.read_bytes()).hexdigest())
        yield Component(
            group=group,
            name=artifact,
            version=version,
            type=ComponentType.LIBRARY,
            purl=purl,
            bom_ref=f"{purl}#{path.name}",
            hashes=[digest],
        )


def coordinates(path: Path) -> tuple[str | None, str, str]:
    """Group, artifact and version of a jar. The group is None if the jar does not name it."""
    named = JAR_NAME.fullmatch(path.name)
    artifact, version = (named["artifact"], named["version"]) if named else (path.stem, "unknown")
    with zipfile.ZipFile(path) as jar:
        for entry in jar.namelist():
            found = POM_PROPERTIES.fullmatch(entry)
            if found and found["artifact"] == artifact:
                lines = jar.read(entry).decode().splitlines()
                properties = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
                return properties.get("groupId"), artifact, properties.get("version", version)
    return None, artifact, version


def java() -> Component:
    """The Java runtime."""
    lines = Path(os.environ["JAVA_HOME"], "release").read_text().splitlines()
    version = next(line.split('"')[1] for line in lines if line.startswith("JAVA_VERSION="))
    return Component(
        name="openjdk",
        version=version,
        type=ComponentType.PLATFORM,
        bom_ref="openjdk",
        purl=PackageURL("generic", None, "openjdk", version),
    )


def main() -> None:
    environment = Path(sys.argv[1])
    bom = Bom(components=[java(), *debian(), *python(environment), *jars(environment)])
    bom.metadata.component = Component(name="lsql-runner", type=ComponentType.CONTAINER, bom_ref="lsql-runner")
    bom.register_dependency(bom.metadata.component, bom.components)
    print(make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=1))


if __name__ == "__main__":
    main()
