"""Reports the results of cases as text and as JUnit XML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The result of a case. `lines` describe the failure; they are empty if the case passed."""

    path: Path
    name: str
    lines: tuple[str, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        return not self.lines


def as_text(result: CaseResult) -> str:
    """The result for a terminal."""
    if result.passed:
        return f"ok      {result.name} ({result.seconds:.1f} s)"
    return "\n".join([f"FAILED  {result.name} ({result.path})", *(f"    {line}" for line in result.lines)])


def as_junit(results: Sequence[CaseResult]) -> bytes:
    """The results as a JUnit XML report."""
    failed = sum(not result.passed for result in results)
    seconds = sum(result.seconds for result in results)
    suite = ElementTree.Element(
        "testsuite", name="lsql", tests=str(len(results)), failures=str(failed), time=f"{seconds:.3f}"
    )
    for result in results:
        attributes = {"classname": str(result.path), "name": result.name, "time": f"{result.seconds:.3f}"}
        case = ElementTree.SubElement(suite, "testcase", attributes)
        if not result.passed:
            failure = ElementTree.SubElement(case, "failure", message=_xml_text(result.lines[0]))
            failure.text = _xml_text("\n".join(result.lines))
    text: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    return text


def _xml_text(text: str) -> str:
    """Text without the control characters that XML does not allow."""
    return "".join(char if char >= " " or char in "\n\t" else "\ufffd" for char in text)
