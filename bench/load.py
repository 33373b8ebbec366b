"""`python -m bench.load`: resources and latency at a constant rate of records.

Feeds a topic at a constant rate, and prints processor time, private memory and latency: of the image in a container
with the limits of a pod (needs root and `make image`), or with `--host` of all engines on this machine, in turns.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from confluent_kafka import Producer

from bench.command import add_limits, add_mode, add_variables, end_on_signals, say
from bench.counted_store import CountedStore
from bench.engines import ENGINES, LSQL_RUNNER, ComparedEngine, build
from bench.expected import BenchFailed
from bench.follow import Follower
from bench.latency import Appended, Latencies, by_count, by_id
from bench.load_engines import LoadTopics, Running, Together, contained, on_host
from bench.load_programs import PROGRAMS, LoadProgram, appended, decoder
from bench.load_results import LoadResult, Usage, load_line
from bench.machine import machine, versions
from bench.outputs import have_records, read_topic
from bench.report import LOAD, page, save
from bench.task import Guarantee
from ci.tools.image import default_tag
from devkit.broker import Broker
from devkit.container import built_image
from devkit.process import ProcessFailed

KEYS = 50
RATES = (10, 100, 1_000, 10_000)
_START_S = 120
_START_POLL_S = 0.05
_DRAIN_S = 30
_TICK_S = 0.005
_FIRST_ID = -1


@dataclass(frozen=True, slots=True)
class Contender:
    """An engine with a guarantee."""

    engine: ComparedEngine
    guarantee: Guarantee
    run: Callable[[LoadProgram, LoadTopics], AbstractContextManager[Running]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run each program at each rate. Returns 1 if a run failed, or on a signal."""
    options = _options(arguments)
    end_on_signals()
    runs: list[dict[str, Any]] = []
    document = {"kind": LOAD, "conditions": _conditions(options), "runs": runs}
    try:
        with Broker(jvm_options=("-Xms512m", "-Xmx512m")) as broker, _object_store(options) as store:
            contenders = list(_contenders(broker.bootstrap, options))
            for name in options.program or PROGRAMS:
                for rate in options.rate or RATES:
                    for contender in contenders:
                        program = replace(PROGRAMS[name], mode=options.mode, pace=options.pace)
                        runs.append(_run(contender, program, rate, broker, options).document())
                        say(load_line(runs[-1]))
                        if store is not None:
                            say(store.take_requests())
    except (BenchFailed, ProcessFailed, AssertionError) as error:
        say(f"failed: {error}")
        return 1
    except KeyboardInterrupt:
        return 1
    finally:
        if runs:
            say(f"results: {save(document)}")
    print(f"\n{page([document])}")
    return 1 if any("failure" in run for run in runs) else 0


@contextmanager
def _object_store(options: argparse.Namespace) -> Iterator[CountedStore | None]:
    """With --object-store: a store, in which lsql-runner keeps its state."""
    if not options.object_store:
        yield None
        return
    with CountedStore() as store:
        options.set = [*options.set, *store.variables().items(), ("LSQL_STATE_URI", f"{store.uri}/bench")]
        yield store


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.load", description="Engines at a constant rate.")
    cores = len(os.sched_getaffinity(0))
    parser.add_argument(
        "--host", action="store_true", help="all engines on this machine, not lsql-runner in a container"
    )
    parser.add_argument("--engine", choices=sorted(ENGINES), action="append", help="only this engine (with --host)")
    parser.add_argument(
        "--guarantee", type=Guarantee, choices=sorted(Guarantee), action="append", help="only this guarantee"
    )
    parser.add_argument("--program", choices=sorted(PROGRAMS), action="append", help="only this program")
    parser.add_argument(
        "--rate", type=int, action="append", help="records per second, 0 for none (default 10, 100, 1000, 10000)"
    )
    parser.add_argument("--seconds", type=int, default=120, help="measured time of each run (default 120)")
    parser.add_argument("--warm-up", type=int, default=30, help="seconds before the measured time (default 30)")
    add_mode(parser)
    parser.add_argument(
        "--processors",
        type=int,
        default=1,
        help="containers that read the topic at the same time, each with the limits; cores and memory are their sums, "
        "latency that of the first (default 1)",
    )
    parser.add_argument("--pace", help="processing.pace of lsql-runner, such as 1s (default: its default)")
    add_limits(parser)
    parser.add_argument("--threads", type=int, default=cores, help="threads with --host (default: the cores)")
    parser.add_argument("--heap-mib", type=int, default=256, help="heap with --host (default 256)")
    parser.add_argument("--partitions", type=int, default=4, help="partitions of each topic (default 4)")
    parser.add_argument(
        "--object-store", action="store_true", help="state in an object store on this machine (with --host)"
    )
    add_variables(parser)
    options = parser.parse_args(arguments)
    if not options.host and options.engine:
        parser.error("--engine needs --host")
    if options.object_store and not options.host:
        parser.error("--object-store needs --host")
    if options.host and options.processors > 1:
        parser.error("--processors needs containers")
    return options


def _contenders(bootstrap: str, options: argparse.Namespace) -> Iterator[Contender]:
    variables = dict(options.set)
    if not options.host:
        image, limits = built_image(default_tag()), (options.cpus, options.memory_mib)
        for guarantee in options.guarantee or list(Guarantee):
            chosen = {"LSQL_GUARANTEE": guarantee.name.lower(), **variables}
            run = partial(_contained_run, image, bootstrap, limits, chosen)
            yield Contender(LSQL_RUNNER, guarantee, run)
        return
    build()
    resources = options.threads, options.heap_mib
    for guarantee in Guarantee:
        for name, engine in ENGINES.items():
            if name in (options.engine or ENGINES) and guarantee in (options.guarantee or list(Guarantee)):
                yield Contender(engine, guarantee, _host_run(engine, guarantee, bootstrap, resources, variables))


def _contained_run(
    image: str,
    bootstrap: str,
    limits: tuple[float, int],
    variables: dict[str, str],
    program: LoadProgram,
    topics: LoadTopics,
) -> AbstractContextManager[Running]:
    return contained(image, program, topics, bootstrap, limits, variables)


def _host_run(
    engine: ComparedEngine, guarantee: Guarantee, bootstrap: str, resources: tuple[int, int], variables: dict[str, str]
) -> Callable[[LoadProgram, LoadTopics], AbstractContextManager[Running]]:
    return lambda program, topics: on_host(engine, program, topics, bootstrap, guarantee, resources, variables)


def _run(
    contender: Contender, program: LoadProgram, rate: int, broker: Broker, options: argparse.Namespace
) -> LoadResult:
    """One run with its own topics, application id and state directory."""
    topics = LoadTopics(f"load-{time.time_ns()}", len(program.inserts))
    others = [replace(topics, processor=number) for number in range(1, options.processors)]
    for topic in (topics.source, *(target for each in (topics, *others) for target in each.targets)):
        broker.create_topic(topic, options.partitions, {"message.timestamp.type": "LogAppendTime"})
    name, guarantee = contender.engine.name, contender.guarantee
    result = partial(
        LoadResult,
        program=program.title,
        rate=rate,
        engine=name,
        guarantee=guarantee,
        mode=program.mode,
        pace=program.pace,
        processors=options.processors,
        in_pod=not options.host,
    )
    is_transactional = guarantee is Guarantee.EXACTLY_ONCE
    _send_first(broker.bootstrap, topics.source)
    start = time.monotonic()
    with (
        Follower(broker.bootstrap, topics.targets, options.partitions)
        if is_transactional
        else nullcontext() as follower,
        ExitStack() as stack,
        contender.run(program, topics) as engine,
    ):
        if not _wait_for_result(engine, broker, topics):
            return result(failure=f"no result after {time.monotonic() - start:.0f} s")
        first_s = time.monotonic() - start
        together = Together((engine, *(stack.enter_context(contender.run(program, each)) for each in others)))
        usage, ran_s = _feed(together, broker.bootstrap, topics.source, rate, options)
        if usage is None:
            return result(failure=f"ended after {ran_s:.0f} s")
        decode = decoder(contender.engine, program)

        def results(topic: str) -> list[Appended]:
            records = follower.records(topic) if follower else _stored(broker, topic)
            return [decode(*record) for record in records]

        try:
            latencies = _latencies(broker, program, topics, results, skip_s=options.warm_up) if rate else Latencies(())
            return result(first_result_s=first_s, usage=usage, latencies=latencies)
        except BenchFailed as error:
            return result(failure=str(error) if engine.is_running else f"ended after {ran_s:.0f} s")


def _send_first(bootstrap: str, source: str) -> None:
    """Write a record for the start of an engine; no record of the run has its id."""
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce(source, json.dumps({"id": _FIRST_ID, "user": "user-0", "speed": 0.0}).encode(), b"key-0")
    if producer.flush(30):
        raise BenchFailed("the broker did not take the first record")


def _wait_for_result(engine: Running, broker: Broker, topics: LoadTopics) -> bool:
    """Whether the engine writes a result of the first record to each target before the deadline."""
    deadline = time.monotonic() + _START_S
    while engine.is_running and time.monotonic() < deadline:
        if have_records(broker, topics.targets):
            return True
        time.sleep(_START_POLL_S)
    return False


def _feed(
    engine: Running, bootstrap: str, source: str, rate: int, options: argparse.Namespace
) -> tuple[Usage | None, float]:
    """Write records at the rate for the time of a run.

    Returns the usage (None if the engine ended before) and the seconds that it ran.
    """
    # Without linger and a bound on requests in flight, librdkafka queues requests of one record each in the client.
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5, "max.in.flight": 5, "acks": "all"})
    begin = time.monotonic()
    sent, cpu_s, measured_from, private = 0, 0.0, 0.0, list[float]()
    next_sample_s = float(options.warm_up)
    while (now_s := time.monotonic() - begin) < options.warm_up + options.seconds:
        if not engine.is_running:
            return None, now_s
        while sent < now_s * rate:
            value = {"id": sent, "user": f"user-{sent % KEYS}", "speed": sent % 300 / 10}
            producer.produce(source, json.dumps(value).encode(), b"key-%d" % (sent % KEYS))
            sent += 1
        producer.poll(0)
        if now_s >= next_sample_s:
            if not private:
                cpu_s, measured_from = engine.cpu_s(), time.monotonic()
            private.append(engine.private_mib())
            next_sample_s += 1
        time.sleep(_TICK_S)
    used, elapsed_s = engine.cpu_s() - cpu_s, time.monotonic() - measured_from
    if producer.flush(30):
        raise BenchFailed("the broker did not take all records")
    return Usage(used / elapsed_s, tuple(private)), time.monotonic() - begin


def _latencies(
    broker: Broker, program: LoadProgram, topics: LoadTopics, results: Callable[[str], list[Appended]], skip_s: float
) -> Latencies:
    """The latencies of all records after the first `skip_s` seconds.

    Raises:
        BenchFailed: a record has no result within the deadline, or more than one.
    """
    records = [appended(*record) for record in _stored(broker, topics.source)]
    begin_ms = min(record.at_ms for record in records if record.value["id"] != _FIRST_ID) + 1000 * skip_s
    deadline = time.monotonic() + _DRAIN_S
    while True:
        try:
            pairs: list[tuple[Appended, int]] = []
            for number, target in enumerate(topics.targets):
                size_ms = program.windows_ms[number] if program.windows_ms else None
                written = results(target)
                pairs += by_id(records, written) if size_ms is None else by_count(records, written, size_ms)
            return Latencies(tuple(sorted(at_ms - record.at_ms for record, at_ms in pairs if record.at_ms >= begin_ms)))
        except BenchFailed:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def _stored(broker: Broker, topic: str) -> list[tuple[bytes, bytes, int]]:
    """Key, value and time of append in ms of all records, in order within a partition."""
    return [(key, value or b"null", at_ms) for _, key, value, at_ms in read_topic(broker, topic)]


def _conditions(options: argparse.Namespace) -> str:
    times = f"{options.seconds} s each after {options.warm_up} s; {KEYS} keys, {options.partitions} partitions."
    if options.pace is not None:
        times += f" Pace of lsql-runner: {options.pace}."
    if not options.host:
        return f"{times} Container: {options.memory_mib} MiB, {options.cpus:g} CPUs. {machine()}"
    return (
        f"{times} On the host: {options.threads} threads and {options.heap_mib} MiB of heap each. Latency: from append "
        f"to append, by the broker's clock; with exactly-once to the arrival at a consumer of committed records. "
        f"{versions()} {machine()}"
    )


if __name__ == "__main__":
    sys.exit(main())
