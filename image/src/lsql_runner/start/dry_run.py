"""Plans a program without running it, for validate, explain and topology. Changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lsql_runner.config.settings import Settings, read_settings
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import Catalog
from lsql_runner.kafka.rights import Acl
from lsql_runner.pipeline import PlannedProgram, plan_parsed
from lsql_runner.plan.explain import explain
from lsql_runner.start.connections import connections
from lsql_runner.start.decision import StartDecision, decide
from lsql_runner.start.memory_need import needed_mib
from lsql_runner.start.needed_acls import needed_acls
from lsql_runner.start.policies import check_topic_policies
from lsql_runner.start.preparation import find_situation, plan_on_brokers, versions
from lsql_runner.start.registry_schemas import check_schemas, output_schemas, unregistered_schemas
from lsql_runner.start.replaced_state import continuation
from lsql_runner.start.request import StartRequest, request_of
from lsql_runner.start.situation import Situation
from lsql_runner.start.state_partitions import state_partitions
from lsql_runner.state.directory import state_path
from lsql_runner.state.folder import LocalFolder
from lsql_runner.state.saved_state import SavedState, saved_state


def plan_from_environment(environment: Mapping[str, str]) -> PlannedProgram:
    """The plan of the program in the environment. Without brokers in the settings, its topics must be declared.

    Raises:
        LsqlError: an error of the settings, the program or its topics.
    """
    return _plan(request_of(read_settings(environment)))


def explain_from_environment(environment: Mapping[str, str]) -> str:
    """The plan of the program in the environment as text, the partitions of its state, and the memory that it needs.

    With brokers in the settings, state that exists determines its partitions, unless it is at a URI.

    Raises:
        LsqlError: as `plan_from_environment`.
    """
    request = request_of(read_settings(environment))
    settings = request.settings
    planned = _plan(request)
    plan = planned.plan
    pinned = _read_state(settings).pinned if settings.bootstrap_servers else None
    partitions = state_partitions(planned, settings, pinned)
    state = f"partitions of its state: {partitions.number} ({partitions.reason})\n" if plan.stateful else ""
    if state and settings.state_uri:
        state += f"the state at {settings.state_uri} was not read; state that exists there may have other partitions\n"
    return f"{explain(plan)}{state}needs about {needed_mib(plan, settings, partitions.number)} MiB of memory\n"


@dataclass(frozen=True, slots=True)
class ProgramAcls:
    """The rights that a program needs on its brokers."""

    acls: tuple[Acl, ...]
    servers: str
    """`host:port,...`; empty without brokers in the settings."""
    principal: str
    """The principal of the client, as `User:name`, if the settings have the name; else empty."""


def acls_from_environment(environment: Mapping[str, str]) -> ProgramAcls:
    """The least rights that the program in the environment needs. Without brokers, its targets count as missing.

    Raises:
        LsqlError: as `plan_from_environment`.
    """
    request = request_of(read_settings(environment))
    settings = request.settings
    user = dict(settings.client_keys).get("sasl.username", "")
    principal = f"User:{user}" if user else ""
    if not settings.bootstrap_servers:
        return ProgramAcls(needed_acls(_plan_on_declarations(request), settings), "", principal)
    with connections(settings) as (brokers, registry):
        planned = plan_on_brokers(request, brokers, registry, None)
        acls = needed_acls(planned, settings, brokers.topics())
    return ProgramAcls(acls, settings.connection.servers, principal)


def _plan(request: StartRequest) -> PlannedProgram:
    if not request.settings.bootstrap_servers:
        return _plan_on_declarations(request)
    with connections(request.settings) as (brokers, registry):
        planned = plan_on_brokers(request, brokers, registry, None)
        check_schemas(output_schemas(planned.plan, registry))
        return planned


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """A program that can start, and what a start would do."""

    planned: PlannedProgram
    decision: StartDecision
    """The start now; without brokers, a start that finds neither targets nor schemas of the program."""
    needed_mib: int
    """The memory that the program needs."""
    on_brokers: bool
    """Whether the settings have brokers."""
    unread_state: str
    """The URI of the state, which is not read: `decision` is that without state. Empty for state on a volume."""


def validate(environment: Mapping[str, str]) -> Validation:
    """Check the program in the environment as a start does. State at a URI is not read: that would need a JVM.

    Raises:
        LsqlError: the error with which a start would be refused; MEMORY_LIMIT_TOO_SMALL.
    """
    settings = read_settings(environment)
    settings.check(to_run=False)
    request = request_of(settings)
    if settings.bootstrap_servers:
        saved = _read_state(settings)
        with connections(settings) as (brokers, registry):
            # Without the state, as on another machine or at a URI, a position does not mean that it is lost.
            folder = state_path(settings.state_dir, settings.app_id)
            with_positions = folder.exists() and not settings.state_uri
            situation = find_situation(request, brokers, registry, saved, with_positions=with_positions)
    else:
        situation = _empty_brokers(_plan_on_declarations(request), settings)
    limit_mib = settings.memory_limit_mib
    if limit_mib is not None and limit_mib < situation.needed_mib:
        raise LsqlError("MEMORY_LIMIT_TOO_SMALL", needed_mib=situation.needed_mib, limit_mib=limit_mib)
    decision = decide(situation, settings)
    return Validation(
        planned=situation.planned,
        decision=decision,
        needed_mib=situation.needed_mib,
        on_brokers=bool(settings.bootstrap_servers),
        unread_state=settings.state_uri,
    )


def _read_state(settings: Settings) -> SavedState:
    """The state of the processor; none if it is at a URI."""
    if settings.state_uri:
        return SavedState(LocalFolder(Path()))
    return saved_state(LocalFolder(state_path(settings.state_dir, settings.app_id)))


def _empty_brokers(planned: PlannedProgram, settings: Settings) -> Situation:
    """The situation on brokers that have only the topics that the program does not create; there is no state."""
    bound = planned.bound.settings
    partitions = state_partitions(planned, settings).number
    existing = frozenset(topic for topic in planned.plan.targets if not bound.topic(topic).autocreate)
    saved = SavedState(LocalFolder(Path()))
    return Situation(
        planned=planned,
        continued=continuation(planned, saved, settings),
        topics=existing,
        schemas=unregistered_schemas(planned.plan),
        committed={},
        resets={},
        saved=saved,
        versions=versions(),
        new_state_partitions=partitions,
        needed_mib=needed_mib(planned.plan, settings, partitions),
    )


def _plan_on_declarations(request: StartRequest) -> PlannedProgram:
    check_topic_policies(request)
    settings = request.settings
    catalog = Catalog(settings.declared, sinks=settings.sink_kinds, functions=settings.functions)
    return plan_parsed(request.program, request.program_settings, catalog, only_batches=settings.has_workers)
