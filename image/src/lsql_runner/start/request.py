"""What a processor is asked to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lsql_runner.bind.settings import Guarantee, ProgramSettings, bind_settings
from lsql_runner.config.settings import Settings, read_settings
from lsql_runner.sql import ast
from lsql_runner.sql.parser import parse


@dataclass(frozen=True, slots=True)
class StartRequest:
    """The settings of a processor and its program, both checked as far as they can be without brokers."""

    settings: Settings
    program: ast.Program
    program_settings: ProgramSettings
    """The values of the program's SET statements, and the guarantee of the settings if the program sets none."""

    @property
    def guarantee(self) -> Guarantee:
        """How often a result may be written if the processor is killed."""
        return self.program_settings.guarantee or self.settings.guarantee

    @property
    def is_continuous(self) -> bool:
        """Whether all queries will be continuous, as far as the text shows: the program is planned after the JVM has
        started."""
        if self.program_settings.mode == "batch" or self.settings.has_workers:
            return False
        has_sink = any(insert.kcql is not None for insert in self.program.inserts)
        return not has_sink and not any(each.joins or each.group_by or each.window for each in self.program.selects)


def request_of(settings: Settings) -> StartRequest:
    """The request for a processor with these settings.

    Raises:
        LsqlError: an error in the text of the program, or of a SET statement.
    """
    program = parse(settings.sql)
    bound = bind_settings(program.settings)
    return StartRequest(settings, program, replace(bound, guarantee=bound.guarantee or settings.guarantee))


def read_request(environment: Mapping[str, str]) -> StartRequest:
    """The request in the environment of a process that is to run the program.

    Raises:
        LsqlError: as `read_settings`, `Settings.check` and `request_of`.
    """
    settings = read_settings(environment)
    settings.check(to_run=True)
    return request_of(settings)
