"""The program that the state of a processor belongs to, planned from what is saved with it."""

from __future__ import annotations

from lsql_runner.config.settings import Settings
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import Catalog
from lsql_runner.pipeline import plan_parsed
from lsql_runner.plan.continuation import continue_from
from lsql_runner.plan.queries import Plan
from lsql_runner.start.request import request_of
from lsql_runner.state.folder import StateFolder
from lsql_runner.state.saved_state import Pinned, saved_pinned


def saved_program(settings: Settings, folder: StateFolder) -> tuple[Plan, StateFolder] | None:
    """The plan of the program that the state in a folder belongs to, and the folder of its checkpoints; None without
    state.

    Raises:
        LsqlError: as `saved_pinned` and `saved_plan`.
    """
    pinned = saved_pinned(folder)
    return None if pinned is None else (saved_plan(settings, pinned), folder / str(pinned.generation))


def saved_plan(settings: Settings, pinned: Pinned) -> Plan:
    """The plan of the program that the state belongs to, with the names of its state. Needs no brokers.

    Raises:
        LsqlError: another version of the software has written the state, and plans the program in another way:
            STATE_INCOMPATIBLE.
    """
    request = request_of(settings.model_copy(update={"sql": pinned.sql}))
    catalog = Catalog(pinned.schemas, sinks=settings.sink_kinds, functions=settings.functions)
    planned = plan_parsed(request.program, request.program_settings, catalog, only_batches=settings.has_workers)
    continued = continue_from(planned.plan, pinned.fingerprint, converts=lambda _: False)
    if continued.changes:
        change = "; ".join(map(str, continued.changes))
        raise LsqlError("STATE_INCOMPATIBLE", path=str(settings.state_dir), change=change)
    return continued.plan
