"""`python -m bench.report FILE...`: prints the tables of result files as Markdown.

`python -m bench`, `bench.load` and `bench.soak` write the files to `bench/results`. Files of the same kind with the
same conditions are one table.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.load_results import load_table
from bench.measures import Comparison, RunMeasures, table
from bench.soak.results import soak_tables

RESULTS = Path(__file__).parent / "results"
THROUGHPUT, LOAD, SOAK = "throughput", "load", "soak"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables of the files. Returns 1 if a file is not a result."""
    parser = argparse.ArgumentParser(prog="python -m bench.report", description="The tables of result files.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a file of bench/results")
    try:
        documents = [read(path) for path in parser.parse_args(arguments).files]
    except (OSError, ValueError) as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    print(page(documents))
    return 0


def save(document: Mapping[str, Any]) -> Path:
    """Write a result file; returns its path."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{document['kind']}.json"
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return path


def read(path: Path) -> dict[str, Any]:
    """The document of a result file, with `kind`, `conditions` and `runs`.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not a result.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        document = None
    match document:
        case {"kind": kind, "conditions": str(), "runs": list()} if kind in (THROUGHPUT, LOAD, SOAK):
            return dict(document)
    raise ValueError(f"{path} is not a result of the benchmark")


def page(documents: Iterable[Mapping[str, Any]]) -> str:
    """The tables, each with its conditions below it."""
    merged: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for document in documents:
        merged.setdefault((document["kind"], document["conditions"]), []).extend(document["runs"])
    return "\n\n".join(f"{_table(kind, runs)}\n\n{conditions}" for (kind, conditions), runs in merged.items() if runs)


def _table(kind: str, runs: Sequence[Mapping[str, Any]]) -> str:
    if kind == SOAK:
        return soak_tables(runs)
    return load_table(runs) if kind == LOAD else table(comparisons(runs))


def comparisons(runs: Sequence[Mapping[str, Any]]) -> list[Comparison]:
    """The runs by workload and engine, in the order in which they first occur."""
    by_workload: dict[str, dict[str, list[RunMeasures]]] = {}
    for run in runs:
        engines = by_workload.setdefault(run["title"], {})
        engines.setdefault(run["engine"], []).append(RunMeasures(**run["measures"]))
    return [Comparison(title, engines) for title, engines in by_workload.items()]


if __name__ == "__main__":
    sys.exit(main())
