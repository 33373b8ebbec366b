"""Golden files: people write `x.sql`, `make golden` writes `x.plan.txt` and other outputs, people review the diff."""

from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path


def find_cases(folder: Path, suffix: str = ".sql") -> list[Path]:
    """The inputs below a folder, sorted. AssertionError if there are none, because the test would check nothing."""
    cases = sorted(folder.rglob(f"*{suffix}"))
    assert cases, f"no *{suffix} below {folder}"
    return cases


def find_orphans(folder: Path, suffix: str = ".sql") -> list[Path]:
    """The files below a folder that are neither an input nor the output of an existing input."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix not in {".py", ".pyc"})
    return [path for path in files if not _input_of(path, suffix).exists()]


class Goldens:
    """Compares texts with the golden files of a case, or rewrites these files."""

    def __init__(self, *, update: bool) -> None:
        self._update = update

    def check(self, case: Path, outputs: Mapping[str, str]) -> None:
        """Compare all outputs of a case, given as a text for each file ending (`.plan.txt`).

        AssertionError if a text differs, a golden file is missing, or a golden file has no output. In update mode the
        files are written or removed instead.
        """
        wanted = {_base(case).with_name(_base(case).name + ending): text for ending, text in outputs.items()}
        extra = [path for path in _outputs_of(case) if path not in wanted]
        if self._update:
            for path in extra:
                path.unlink()
            for path, text in wanted.items():
                path.write_text(text)
            return
        faults = [f"{path.name} is not an output of {case.name} any more" for path in extra]
        faults += [fault for path, text in wanted.items() if (fault := _difference(path, text))]
        assert not faults, "\n".join([*faults, "if the change is intended, run `make golden`"])


def _base(path: Path) -> Path:
    """The path up to the first dot of the file name, which a case and its outputs have in common."""
    return path.with_name(path.name.split(".", 1)[0])


def _input_of(path: Path, suffix: str) -> Path:
    return _base(path).with_name(_base(path).name + suffix)


def _outputs_of(case: Path) -> list[Path]:
    return sorted(path for path in case.parent.glob(f"{_base(case).name}.*") if path != case)


def _difference(path: Path, text: str) -> str:
    if not path.exists():
        return f"{path.name} is missing"
    lines = unified_diff(path.read_text().splitlines(), text.splitlines(), path.name, "the current output", lineterm="")
    return "\n".join(lines) or ("" if path.read_text() == text else f"{path.name} ends differently")
