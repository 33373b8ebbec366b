"""Makes a release in a clean clone: `python -m ci.tools.release VERSION`, or `make release VERSION=0.2.0`.

check -> set the version, date the changelog -> commit, tag -> image archive, bill of materials, charts, notes

Nothing leaves this machine: docs/releasing.md has what a maintainer does with the result.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from ci.tools.cache import ROOT
from ci.tools.image import image_root
from ci.tools.image import version as version_now
from ci.tools.repository import git

CHARTS = ("lsql-runner", "lsql-console")
NAMING_THE_VERSION = (
    "image/pyproject.toml",
    *(f"charts/{chart}/Chart.yaml" for chart in CHARTS),
    "tests/chart/umbrella/Chart.yaml",
    "docs/guides/install.md",
    "docs/guides/gitops.md",
    "docs/guides/operating.md",
    "docs/images/processor-page.json",
)
"""Files in which the present version means the version of this project."""
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_UNRELEASED = "## [Unreleased]\n"


class ReleaseRefused(Exception):
    """Why no release is made, in words."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Make a release.")
    parser.add_argument("version", help="such as 0.2.0")
    new = parser.parse_args(arguments).version
    try:
        check_version(version_now(), new)
        if git("status", "--porcelain"):
            raise ReleaseRefused("there are changes that are not committed")
        if git("tag", "--list", f"v{new}"):
            raise ReleaseRefused(f"the tag v{new} exists")
        changelog = dated((ROOT / "CHANGELOG.md").read_text(), new, datetime.now(UTC).date().isoformat())
    except ReleaseRefused as refused:
        print(f"no release: {refused}", file=sys.stderr)
        return 1
    old = version_now()
    for name in NAMING_THE_VERSION:
        file = ROOT / name
        file.write_text(with_version(file.read_text(), old, new))
    (ROOT / "CHANGELOG.md").write_text(changelog)
    _run(sys.executable, "-m", "devkit.docs")
    _run("git", "commit", "--quiet", "--all", "--message", f"Release {new}")
    _run("git", "tag", "--annotate", f"v{new}", "--message", f"lsql-runner {new}")
    _build(new, changelog)
    return 0


def check_version(old: str, new: str) -> None:
    """Check that a version follows another one.

    Raises:
        ReleaseRefused: it does not, or is none.
    """
    if not _VERSION.fullmatch(new):
        raise ReleaseRefused(f"{new!r} is not a version such as 0.2.0")
    if _numbers(new) <= _numbers(old):
        raise ReleaseRefused(f"{new} does not follow {old}")


def dated(changelog: str, version: str, date: str) -> str:
    """The changelog with what is unreleased as a version of a date, below an empty section.

    Raises:
        ReleaseRefused: nothing is unreleased.
    """
    if not notes(changelog, "Unreleased"):
        raise ReleaseRefused("CHANGELOG.md has nothing under [Unreleased]")
    return changelog.replace(_UNRELEASED, f"{_UNRELEASED}\n## [{version}] - {date}\n", 1)


def notes(changelog: str, version: str) -> str:
    """The section of a version, without its heading; empty if there is none."""
    match = re.search(rf"^## \[{re.escape(version)}\].*\n((?:(?!## ).*\n?)*)", changelog, re.MULTILINE)
    return "" if match is None else match[1].strip()


def with_version(text: str, old: str, new: str) -> str:
    """A text in which the version is another one.

    Raises:
        ValueError: the text does not name the old version.
    """
    changed = re.sub(rf"(?<![\d.]){re.escape(old)}(?![\d.])", new, text)
    if changed == text:
        raise ValueError(f"a file of NAMING_THE_VERSION does not name {old}")
    return changed


def _build(version: str, changelog: str) -> None:
    """Write the files of a release into build/release/<version>."""
    folder = ROOT / "build/release" / version
    folder.mkdir(parents=True)
    image = f"localhost/lsql-runner:{version}"
    _run("make", "image", "tools")
    _run(
        "podman",
        "save",
        "--quiet",
        "--format",
        "oci-archive",
        "--output",
        str(folder / f"lsql-runner-{version}.tar"),
        image,
    )
    with image_root(image) as root:
        materials = (root / "usr/share/lsql-runner.cdx.json").read_bytes()
    (folder / f"lsql-runner-{version}.cdx.json").write_bytes(materials)
    for chart in CHARTS:
        _run(
            str(ROOT / ".venv/share/lsql-runner/go-tools/bin/helm3"),
            "package",
            f"charts/{chart}",
            "--destination",
            str(folder),
        )
    (folder / "notes.md").write_text(f"{notes(changelog, version)}\n")
    print(f"made: {folder.relative_to(ROOT)}, tag v{version}", flush=True)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def _run(*command: str) -> None:
    subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main())
