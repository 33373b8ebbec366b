"""Reads the saved state while no plan runs: after a stop, in a standby, and if the state does not fit the program."""

from __future__ import annotations

from lsql_runner.engine.port import StoredRows, StoreRead
from lsql_runner.errors import LsqlError
from lsql_runner.plan.queries import Plan
from lsql_runner.runtime.dependencies import RunDependencies
from lsql_runner.runtime.description import stores_of
from lsql_runner.runtime.port import ProgramDescription
from lsql_runner.start.saved_program import saved_plan
from lsql_runner.state.folder import StateFolder
from lsql_runner.state.saved_state import Pinned, saved_pinned


class SavedReads:
    """The state stores of the program that was saved last."""

    def __init__(self, dependencies: RunDependencies) -> None:
        self._dependencies = dependencies
        self._planned: tuple[Pinned, Plan] | None = None

    def description(self) -> ProgramDescription:
        """The stores of the saved program; empty if it cannot be planned any more."""
        try:
            saved = self._program()
        except LsqlError:
            return ProgramDescription()
        return ProgramDescription() if saved is None else ProgramDescription(stores_of(saved[0]))

    def read(self, read: StoreRead) -> StoredRows | None:
        """As `port.Engine.read_saved`; None without saved state.

        Raises:
            LsqlError: as there, and as `saved_pinned` and `saved_plan`.
        """
        saved = self._program()
        if saved is None:
            return None
        d = self._dependencies
        return d.engine.read_saved(d.settings.connection, *saved, read)

    def _program(self) -> tuple[Plan, StateFolder] | None:
        """The saved program, which is planned again when another one is saved, and the folder of its checkpoints."""
        d = self._dependencies
        pinned = saved_pinned(d.state.folder)
        if pinned is None:
            return None
        planned = self._planned
        if planned is None or planned[0] != pinned:
            planned = self._planned = pinned, saved_plan(d.settings, pinned)
        return planned[1], d.state.folder / str(pinned.generation)
