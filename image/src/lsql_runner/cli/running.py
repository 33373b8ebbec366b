"""Asks a running processor whether its state fits a program, before an upgrade replaces it."""

from __future__ import annotations

import socket
from collections.abc import Callable

import httpx2
from pydantic import ValidationError

from lsql_runner.bind.settings import ProgramSettings
from lsql_runner.config.settings import Settings
from lsql_runner.errors import DetailTable, LsqlError
from lsql_runner.plan.state_changes import SAME_MEANING, STATE_CHANGES
from lsql_runner.plan.verdict import Verdict
from lsql_runner.reports.model import Problem
from lsql_runner.reports.responses import RebuildReport, VerdictReport
from lsql_runner.start.replaced_state import BUILDS
from lsql_runner.start.state_partitions import wanted_partitions

_TIMEOUT_S = 30.0
_NO_ADDRESS = (socket.EAI_NONAME, socket.EAI_NODATA)
"""The name exists nowhere; other errors are those of a resolver."""
_REASONS = DetailTable({"NO_HOST": "the address has no host", "STATUS": "HTTP status {status}"})


def check_running(url: str, settings: Settings, program: ProgramSettings, say: Callable[[str], None]) -> None:
    """Print what the processor at an address would do with its state if it ran the program of the settings.

    Args:
        url: the address of its API. If its host has no address, there is no processor yet.
        settings: of the new processor, with its program, and the token of the running one.
        program: the values of the program's SET statements.
        say: prints a line.

    Raises:
        LsqlError: STATE_INCOMPATIBLE, STATE_MEANING_CHANGED: the settings refuse it. VERDICT_UNKNOWN: the processor
            cannot say.
    """
    report = _ask(url, settings)
    if report is None:
        say(f"There is no processor at {url} yet.")
        return
    if report.app_id != settings.app_id:
        say(f"The processor at {url} has the application id {report.app_id}: its state is not used.")
        return
    for insert in report.inserts:
        say(f"INSERT INTO {insert.target}: {insert.verdict}")
        for change in insert.changes:
            say(f"- {change.text}")
        if insert.rebuild is not None:
            say(f"- {_cost(insert.rebuild, report.records_per_second)}")
    reasons = _lost(report, wanted_partitions(program, settings))
    if settings.state_on_change == "fail" and reasons:
        raise LsqlError("STATE_INCOMPATIBLE", path=url, change="; ".join(reasons))
    meanings = _meanings(report, builds=settings.state_on_change in BUILDS)
    if settings.state_on_meaning_change == "refuse" and meanings:
        raise LsqlError("STATE_MEANING_CHANGED", path=url, change="; ".join(meanings))


def _cost(rebuild: RebuildReport, records_per_s: float | None) -> str:
    deleted = f"; {rebuild.deleted} records that it has read are deleted" if rebuild.deleted else ""

    def minutes(records: int) -> str:
        return "" if not records_per_s else f" ({max(1, round(records / records_per_s / 60))} min)"

    rate = f", at its {round(records_per_s)} records/s" if records_per_s else ""
    return (
        f"to build its state again, {rebuild.open_windows} records{minutes(rebuild.open_windows)} are read from the "
        f"oldest open window, or {rebuild.earliest}{minutes(rebuild.earliest)} from the first record{rate}{deleted}"
    )


def _ask(url: str, settings: Settings) -> VerdictReport | None:
    headers = {"Authorization": f"Bearer {settings.api_token}"} if settings.api_token else {}
    try:
        with httpx2.Client(timeout=_TIMEOUT_S, trust_env=False, follow_redirects=False) as client:
            request = client.build_request(
                "POST", f"{url.rstrip('/')}/verdict", json={"sql": settings.sql}, headers=headers
            )
            if not request.url.host:
                raise LsqlError("VERDICT_UNKNOWN", url=url, reason=_REASONS("NO_HOST"))
            socket.getaddrinfo(request.url.host, None)
            answer = client.send(request)
    except socket.gaierror as error:
        if error.errno in _NO_ADDRESS:
            return None
        raise LsqlError("VERDICT_UNKNOWN", url=url, reason=str(error.strerror)) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
        raise LsqlError("VERDICT_UNKNOWN", url=url, reason=str(error) or type(error).__name__) from None
    try:
        if answer.status_code != 200:
            raise LsqlError("VERDICT_UNKNOWN", url=url, reason=Problem.model_validate_json(answer.content).detail)
        report = VerdictReport.model_validate_json(answer.content)
    except ValidationError:
        raise LsqlError("VERDICT_UNKNOWN", url=url, reason=_REASONS("STATUS", status=answer.status_code)) from None
    if not report.inserts and report.error is not None:
        raise LsqlError("VERDICT_UNKNOWN", url=url, reason=report.error.message)
    return report


def _lost(report: VerdictReport, partitions: int | None) -> list[str]:
    """Why state would be lost. The processor has judged with its own settings: its error is not used."""
    lost = [each for each in report.inserts if each.verdict is Verdict.NEW_GENERATION]
    removed = [each for each in report.inserts if each.verdict is Verdict.REMOVES and each.stateful]
    reasons = [change.text for each in lost for change in each.changes]
    reasons += (STATE_CHANGES("REMOVED", target=each.target) for each in removed)
    was = report.state_partitions
    if was is not None and partitions is not None and was != partitions:
        reasons.append(STATE_CHANGES("STATE_PARTITIONS", was=was, now=partitions))
    return reasons


def _meanings(report: VerdictReport, *, builds: bool) -> list[str]:
    """How values of the state would be computed in another way. State with new aggregates is built again, if any is."""
    kept = [each for each in report.inserts if each.verdict is Verdict.KEEPS_FROM_HERE_ON]
    if builds:
        kept = [each for each in kept if all(change.code != "AGGREGATES_ADDED" for change in each.changes)]
    return [change.text for each in kept for change in each.changes if change.code not in SAME_MEANING]
