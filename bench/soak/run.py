"""One run: load and faults until the time is over, then the comparison of all results."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bench.command import say
from bench.expected import BenchFailed
from bench.feed import send
from bench.load_engines import runner_container
from bench.soak.check import Outcome
from bench.soak.faults import SoakTarget
from bench.soak.feed import Feeder
from bench.soak.plan import Fault, Phase, Slot, phase, slots
from bench.soak.pod import Sampler, SoakPod, wait_for
from bench.soak.programs import SoakProgram, SoakTopics
from bench.soak.results import SoakResult
from ci.tools.ports import free_port
from devkit.broker import Broker
from devkit.process import ProcessFailed

_SAMPLE_S = 5
_CAUGHT_UP_S = 3
"""The load of so many seconds may be unread when the processor has caught up: a batch reads what came before it."""
_CATCH_UP_DEADLINE_S = 300
_CHECK_DEADLINE_S = 30
_POLL_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class SoakOptions:
    """What runs, and for how long."""

    program: SoakProgram
    rate: float
    """Records per second."""
    minutes: float
    mode: str
    partitions: int
    limits: tuple[float, int]
    """Processors and MiB of the container."""
    faults: Sequence[Fault] = tuple(Fault)
    """Of a round."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """More environment variables of the container."""


def run(options: SoakOptions, broker: Broker, image: str) -> SoakResult:
    """One run with its own topics, application id and volumes.

    Raises:
        BenchFailed: it cannot begin.
        ProcessFailed: the container does not start.
    """
    program = options.program
    topics = SoakTopics(f"soak-{time.time_ns()}", len(program.inserts))
    sources = _create_topics(program, topics, broker, options.partitions)
    port = free_port()
    container = runner_container(
        image,
        sql=program.sql(topics, options.mode),
        app_id=topics.name,
        lsql_topics=program.lsql_topics(topics),
        bootstrap=broker.bootstrap,
        port=port,
        limits=options.limits,
        variables={"LSQL_API_ACTIONS": "open", **options.variables},
    )
    pod = SoakPod(container, port)
    feeder = Feeder(broker.bootstrap, lambda number: program.messages(topics, number), options.rate)
    target = SoakTarget(broker=broker, pod=pod, feeder=feeder, topics=topics, partitions=sources)
    with container:
        wait_for(lambda: pod.position() >= program.rows, _CATCH_UP_DEADLINE_S, "the table is not read", pod)
        begin, begin_ms = time.monotonic(), int(time.time() * 1000)
        phases: list[Phase] = []
        outcome, failure = None, ""
        with Sampler(pod, begin, _SAMPLE_S) as sampler:
            try:
                with feeder:
                    _run_phases(options, target, phases, begin)
                outcome = _checked(program, target)
            except (BenchFailed, ProcessFailed) as error:
                failure = f"{error}\n{container.output()[-4000:]}"
    return SoakResult(
        program=program.title,
        mode=options.mode,
        rate=options.rate,
        minutes=options.minutes,
        memory_limit_mib=options.limits[1],
        begin_ms=begin_ms,
        phases=tuple(phases),
        samples=tuple(sampler.samples),
        outcome=outcome,
        failure=failure,
    )


def _create_topics(program: SoakProgram, topics: SoakTopics, broker: Broker, partitions: int) -> dict[str, int]:
    """Create all topics, and fill the table. Returns the number of partitions of each source."""
    sources = [topics.source] + [topics.table] * bool(program.rows)
    letters = [topics.dead_letters] * bool(program.malformed_every)
    for topic in (*sources, *topics.targets, *letters):
        broker.create_topic(topic, partitions, {"message.timestamp.type": "LogAppendTime"})
    send(broker.bootstrap, topics.table, program.table_rows(), program.rows)
    return dict.fromkeys(sources, partitions)


def _run_phases(options: SoakOptions, target: SoakTarget, phases: list[Phase], begin: float) -> None:
    """Carry out all slots; each that has ended is added to `phases`.

    Raises:
        BenchFailed, ProcessFailed: the processor or the broker does not do what the slot needs.
    """
    for slot in slots(options.minutes, options.faults):
        say(f"{slot.begin_s:6.0f} s: {options.program.title}: {slot.name}")
        begin_s = time.monotonic() - begin
        target.inject(slot)
        try:
            wait_for(lambda: _is_caught_up(options, target), _CATCH_UP_DEADLINE_S, _slow(slot), target.pod)
        except BenchFailed as error:
            raise BenchFailed(f"{error}{_stalled(target)}") from error
        level = phases[-1].level if phases else 0
        changes = slot.fault is not None and slot.fault.changes_level
        caught_up_s = time.monotonic() - begin
        phases.append(phase(slot, level + changes, begin_s=begin_s, caught_up_s=caught_up_s))
        while time.monotonic() - begin < slot.end_s:
            target.pod.check()
            time.sleep(_POLL_S)


def _is_caught_up(options: SoakOptions, target: SoakTarget) -> bool:
    unread = options.program.rows + target.feeder.messages - target.pod.position()
    return unread <= max(1.0, _CAUGHT_UP_S * options.rate)


def _stalled(target: SoakTarget) -> str:
    """Says so if the processor has read all that the topics have, so that the load is at fault."""
    if not target.broker.process.running:
        return ""
    stored = sum(sum(target.broker.end_offsets(topic).values()) for topic in target.partitions)
    if target.pod.position() < stored:
        return ""
    return f"; it has read all {stored:,} stored records: the producer of the load stalled ({target.feeder.last_error})"


def _slow(slot: Slot) -> str:
    return f"after '{slot.name}' the processor has not caught up"


def _checked(program: SoakProgram, target: SoakTarget) -> Outcome:
    """The comparison of all results, when the processor has read all records.

    Raises:
        BenchFailed: it does not read them, the source lacks a record, or results cannot be read.
    """
    target.feeder.flush()
    records = target.feeder.records
    total = sum(sum(target.broker.end_offsets(topic).values()) for topic in target.partitions)
    wait_for(
        lambda: target.pod.position() >= total,
        _CATCH_UP_DEADLINE_S,
        "the processor has not read all records",
        target.pod,
    )
    deadline = time.monotonic() + _CHECK_DEADLINE_S
    while True:
        outcome = program.check(target.broker, target.topics, records)
        if not outcome.lost or time.monotonic() > deadline:
            return outcome
