"""Golden files: people write `x.sql`, `make golden` writes `x.plan.txt` and the like, review is the diff."""

from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path


def find_cases(folder: Path, suffix: str = ".sql") -> list[Path]:
    """Returns the inputs below a folder, sorted; none is an AssertionError, as the test would run nothing."""
    cases = sorted(folder.rglob(f"*{suffix}"))
    assert cases, f"no *{suffix} below {folder}"
    return cases


def find_orphans(folder: Path, suffix: str = ".sql") -> list[Path]:
    """Returns the files below a folder whose input is gone: neither inputs nor named after one."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix not in {".py", ".pyc"})
    return [path for path in files if not _input_of(path, suffix).exists()]


class Goldens:
    """Compares texts with the golden files beside a case, or rewrites those."""

    def __init__(self, *, update: bool) -> None:
        self._update = update

    def check(self, case: Path, outputs: Mapping[str, str]) -> None:
        """Compares all outputs of one case: the ending of each golden file (`.plan.txt`) with its text.

        A text that differs, a golden file that is missing and one that no output belongs to are each an
        AssertionError. When goldens are being rewritten, the files are made to agree instead.
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
        assert not faults, "\n".join([*faults, "if this is meant: make golden"])


def _base(path: Path) -> Path:
    """The path up to the first dot of the file name: what a case and its outputs share."""
    return path.with_name(path.name.split(".", 1)[0])


def _input_of(path: Path, suffix: str) -> Path:
    return _base(path).with_name(_base(path).name + suffix)


def _outputs_of(case: Path) -> list[Path]:
    return sorted(path for path in case.parent.glob(f"{_base(case).name}.*") if path != case)


def _difference(path: Path, text: str) -> str:
    if not path.exists():
        return f"{path.name} is missing"
    lines = unified_diff(path.read_text().splitlines(), text.splitlines(), path.name, "what the code says", lineterm="")
    return "\n".join(lines) or ("" if path.read_text() == text else f"{path.name} ends differently")
