"""A release has a version that follows the last one, and the changes since then."""

import pytest

from ci.tools.cache import ROOT
from ci.tools.image import version
from ci.tools.release import NAMING_THE_VERSION, ReleaseRefused, check_version, dated, notes, with_version

CHANGELOG = """# Changelog

## [Unreleased]

### Fixed

- A bug.

## [0.1.0] - 2026-11-26

The first version.
"""


@pytest.mark.parametrize(("old", "new"), [("0.1.0", "0.1.1"), ("0.9.0", "0.10.0"), ("0.9.1", "1.0.0")])
def test_a_larger_version_follows(old: str, new: str) -> None:
    check_version(old, new)


@pytest.mark.parametrize("new", ["0.1.0", "0.0.9", "v0.2.0", "0.2", "0.2.0-rc1", ""])
def test_other_versions_are_refused(new: str) -> None:
    with pytest.raises(ReleaseRefused):
        check_version("0.1.0", new)


def test_what_is_unreleased_becomes_the_version() -> None:
    changed = dated(CHANGELOG, "0.2.0", "2026-12-01")

    assert notes(changed, "0.2.0") == notes(CHANGELOG, "Unreleased") == "### Fixed\n\n- A bug."
    assert "## [0.2.0] - 2026-12-01" in changed
    assert notes(changed, "Unreleased") == ""
    assert notes(changed, "0.1.0") == "The first version."


def test_a_changelog_without_changes_is_refused() -> None:
    with pytest.raises(ReleaseRefused, match="Unreleased"):
        dated(dated(CHANGELOG, "0.2.0", "2026-12-01"), "0.3.0", "2026-12-02")


def test_only_whole_versions_are_replaced() -> None:
    assert with_version("~0.1.0 v0.1.0, 10.1.0 0.1.0.1", "0.1.0", "0.2.0") == "~0.2.0 v0.2.0, 10.1.0 0.1.0.1"


@pytest.mark.parametrize("name", NAMING_THE_VERSION)
def test_the_files_name_the_present_version(name: str) -> None:
    assert with_version((ROOT / name).read_text(), version(), "9.9.9")
