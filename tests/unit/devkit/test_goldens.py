"""Golden files: a different, missing or unused file fails; rewriting updates the files."""

from pathlib import Path

import pytest

from devkit.goldens import Goldens, find_orphans


def case_with(folder: Path, **outputs: str) -> Path:
    """Make `x.sql` and, for each keyword, `x.<keyword>.txt`."""
    case = folder / "x.sql"
    case.write_text("SELECT")
    for name, text in outputs.items():
        (folder / f"x.{name}.txt").write_text(text)
    return case


def test_equal_texts_pass(tmp_path: Path) -> None:
    Goldens(update=False).check(case_with(tmp_path, plan="scan\n"), {".plan.txt": "scan\n"})


@pytest.mark.parametrize(
    ("golden", "text", "shown"),
    [("scan\n", "filter\n", r"-scan\n\+filter"), ("scan", "scan\n", "ends differently")],
)
def test_a_difference_is_shown(tmp_path: Path, golden: str, text: str, shown: str) -> None:
    with pytest.raises(AssertionError, match=shown):
        Goldens(update=False).check(case_with(tmp_path, plan=golden), {".plan.txt": text})


def test_a_missing_golden_file_fails(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"x\.plan\.txt is missing(.|\n)*make golden"):
        Goldens(update=False).check(case_with(tmp_path), {".plan.txt": "scan\n"})


def test_a_golden_file_without_an_output_fails(tmp_path: Path) -> None:
    case = case_with(tmp_path, plan="scan\n", error="no such topic\n")
    with pytest.raises(AssertionError, match=r"x\.error\.txt is not an output"):
        Goldens(update=False).check(case, {".plan.txt": "scan\n"})


def test_rewriting_updates_the_files(tmp_path: Path) -> None:
    case = case_with(tmp_path, plan="old\n", error="no such topic\n")

    Goldens(update=True).check(case, {".plan.txt": "new\n"})

    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.plan.txt", "x.sql"]
    Goldens(update=False).check(case, {".plan.txt": "new\n"})


def test_orphans_are_files_whose_case_is_gone(tmp_path: Path) -> None:
    case_with(tmp_path, plan="scan\n")
    (tmp_path / "gone.plan.txt").touch()
    (tmp_path / "test_plans.py").touch()
    assert find_orphans(tmp_path) == [tmp_path / "gone.plan.txt"]
