"""How cases ended: a line for people, a JUnit report for machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a case ended. `lines` say what is wrong; empty for a case that passed."""

    path: Path
    name: str
    lines: tuple[str, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        return not self.lines


def as_text(outcome: Outcome) -> str:
    """The outcome for a terminal."""
    if outcome.passed:
        return f"ok      {outcome.name} ({outcome.seconds:.1f} s)"
    return "\n".join([f"FAILED  {outcome.name} ({outcome.path})", *(f"    {line}" for line in outcome.lines)])


def as_junit(outcomes: Sequence[Outcome]) -> bytes:
    """The outcomes as a JUnit XML report."""
    failed = sum(not outcome.passed for outcome in outcomes)
    seconds = sum(outcome.seconds for outcome in outcomes)
    suite = ElementTree.Element(
        "testsuite", name="lsql", tests=str(len(outcomes)), failures=str(failed), time=f"{seconds:.3f}"
    )
    for outcome in outcomes:
        attributes = {"classname": str(outcome.path), "name": outcome.name, "time": f"{outcome.seconds:.3f}"}
        case = ElementTree.SubElement(suite, "testcase", attributes)
        if not outcome.passed:
            failure = ElementTree.SubElement(case, "failure", message=_xml_text(outcome.lines[0]))
            failure.text = _xml_text("\n".join(outcome.lines))
    text: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    return text


def _xml_text(text: str) -> str:
    """Text without the control characters that XML cannot hold."""
    return "".join(char if char >= " " or char in "\n\t" else "\ufffd" for char in text)
