"""Reads the saved state while no plan runs: after a stop, and if the state does not fit the program."""

from __future__ import annotations

from lsql_runner.engine.port import StoredRows, StoreRead
from lsql_runner.errors import LsqlError
from lsql_runner.plan.queries import Plan
from lsql_runner.runtime.dependencies import RunDependencies
from lsql_runner.runtime.description import stores_of
from lsql_runner.runtime.port import ProgramDescription
from lsql_runner.start.saved_program import saved_program
from lsql_runner.state.folder import StateFolder


class SavedReads:
    """The state stores of the program that was saved last."""

    def __init__(self, dependencies: RunDependencies) -> None:
        self._dependencies = dependencies

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
            LsqlError: as there, and as `start.saved_program.saved_program`.
        """
        saved = self._program()
        if saved is None:
            return None
        d = self._dependencies
        return d.engine.read_saved(d.settings.connection, *saved, read)

    def _program(self) -> tuple[Plan, StateFolder] | None:
        return saved_program(self._dependencies.settings, self._dependencies.state.folder)
