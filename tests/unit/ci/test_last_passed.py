"""The time when a target has last passed is kept beside the times of other targets."""

from pathlib import Path

from ci.tools.last_passed import described, note


def test_the_last_time_of_each_target_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "last-passed.json"
    assert described("test-faults", file) == "test-faults: never noted as passed"

    note("test-faults", "0123abcd", "2026-11-01", file)
    note("test-keda", "4567cdef", "2026-11-02", file)
    note("test-faults", "89abcdef", "2026-11-03", file)

    assert described("test-faults", file) == "test-faults: passed on 2026-11-03 at 89abcdef"
    assert described("test-keda", file) == "test-keda: passed on 2026-11-02 at 4567cdef"
