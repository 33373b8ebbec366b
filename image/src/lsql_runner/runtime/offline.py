"""Planning without running: for validate, explain and topology."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing

from lsql_runner.config.settings import read_settings
from lsql_runner.formats.catalog import Catalog
from lsql_runner.pipeline import PlannedProgram, plan_parsed
from lsql_runner.runtime.preparation import brokers_of, plan_on_brokers, registry_of
from lsql_runner.runtime.registered import check_outputs
from lsql_runner.sql.parser import parse


def plan_from_environment(environment: Mapping[str, str]) -> PlannedProgram:
    """The plan of the program in the environment: on the brokers' topics, or on declared ones without brokers.

    Raises:
        LsqlError: whatever is wrong; nothing is changed on the brokers.
    """
    settings = read_settings(environment)
    program = parse(settings.sql)
    if not settings.bootstrap_servers:
        return plan_parsed(program, Catalog(settings.declared, sinks=settings.sink_kinds))
    with ExitStack() as stack:
        brokers = stack.enter_context(closing(brokers_of(settings)))
        registry = registry_of(settings)
        if registry is not None:
            stack.callback(registry.close)
        planned = plan_on_brokers(program, settings, brokers, registry, None)
        check_outputs(planned.plan, registry)
        return planned
