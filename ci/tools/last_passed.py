"""When the targets that CI does not run have last passed: `python -m ci.tools.last_passed TARGET [--now]`.

`make` prints it before it runs such a target, and notes it afterwards in ci/last-passed.json, which is committed. So a
target that nobody has run since a change is seen.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from ci.tools.cache import ROOT
from ci.tools.repository import git

FILE = ROOT / "ci/last-passed.json"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="When a target has last passed.")
    parser.add_argument("target")
    parser.add_argument("--now", action="store_true", help="note that it has passed now")
    options = parser.parse_args(arguments)
    if options.now:
        note(options.target, git("rev-parse", "--short=8", "HEAD"), datetime.now(UTC).date().isoformat(), FILE)
    else:
        print(described(options.target, FILE), flush=True)
    return 0


def note(target: str, commit: str, date: str, file: Path) -> None:
    """Note that a target has passed at a commit. Changes that were not committed then are not noted."""
    passed = _read(file) | {target: {"commit": commit, "date": date}}
    file.write_text(json.dumps(passed, indent=2, sort_keys=True) + "\n")


def described(target: str, file: Path) -> str:
    """When a target has last passed, in words."""
    last = _read(file).get(target)
    return f"{target}: passed on {last['date']} at {last['commit']}" if last else f"{target}: never noted as passed"


def _read(file: Path) -> dict[str, dict[str, str]]:
    return dict(json.loads(file.read_text())) if file.exists() else {}


if __name__ == "__main__":
    sys.exit(main())
