"""CI runs the commands of contributors, and no test is skipped."""

import os
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHELL_FRAME = {"set -euo pipefail", 'cd "$(dirname "$0")/.."'}


def ci_commands() -> list[str]:
    lines = (ROOT / ".ci/run").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#") and line not in SHELL_FRAME]


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def layers_of_tests() -> set[str]:
    """The folders of tests that contain tests, at any depth."""
    return {path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").rglob("test_*.py")}


def test_ci_is_executable() -> None:
    assert os.access(ROOT / ".ci/run", os.X_OK)


def test_ci_runs_only_make_targets() -> None:
    commands = [command.split() for command in ci_commands()]
    assert commands
    assert all(len(words) == 2 and words[0] == "make" and words[1] in make_targets() for words in commands)


def test_every_make_target_is_in_the_help() -> None:
    documented = set(re.findall(r"^([a-z-]+):.*## \S", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert documented == make_targets()


def test_every_layer_of_tests_is_run_by_a_make_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    layers = layers_of_tests()
    assert layers
    assert [layer for layer in sorted(layers) if f"tests/{layer}" not in makefile] == []


def test_no_test_is_skipped_or_expected_to_fail() -> None:
    pattern = re.compile(r"\b(pytest|mark|unittest)\.(skip|skipif|xfail|importorskip)\b|\b[sS]kipTest\b")
    findings = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if path != Path(__file__)
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if pattern.search(line)
    ]
    assert findings == []


def test_every_layer_of_tests_is_in_the_table() -> None:
    table = [line for line in (ROOT / "CONTRIBUTING.md").read_text().splitlines() if line.startswith("| `")]
    named = {name.removeprefix("tests/") for line in table for name in re.findall(r"`([\w/]+)`", line.split("|")[1])}
    assert layers_of_tests() - named == set()
