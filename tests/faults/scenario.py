"""A processor that runs the programs of a suite: feeds it, kills it, starts it again, and checks its targets."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import time
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self

from devkit.background import repeated
from devkit.process import ProcessFailed
from devkit.records import Record
from devkit.runner import FAST_COMPILER, Runner, has_ended
from devkit.topics import Isolation, Topics
from tests.faults.points import Agent, Guarantee, Point
from tests.faults.programs import Program, Suite
from tests.faults.results import Difference, Kind, compare

READERS: tuple[Isolation, ...] = ("read_uncommitted", "read_committed")
POLL_S = 0.02
ENDED = 3
"""The exit code of a processor whose JVM or worker was killed."""
_SETTINGS = {
    Guarantee.AT_LEAST_ONCE: f"SET processing.guarantee='{Guarantee.AT_LEAST_ONCE}';",
    Guarantee.EXACTLY_ONCE: f"SET processing.guarantee='{Guarantee.EXACTLY_ONCE}';",
}
REQUIRED = Guarantee(os.environ.get("GUARANTEE") or Guarantee.EXACTLY_ONCE)
"""The guarantee of this run of the tests."""
FORGIVEN = {
    Guarantee.AT_LEAST_ONCE: frozenset({Kind.DOUBLED}),
    Guarantee.EXACTLY_ONCE: frozenset[Kind](),
}
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Outcome:
    """How often results were written again, by target, as each kind of reader sees it."""

    doubled: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.doubled.values())


@dataclass
class Scenario:
    """A processor of a suite on a broker. The block of a `with` ends it."""

    broker: Topics
    suite: Suite
    folder: Path
    guarantee: Guarantee = REQUIRED
    replication: int = 1
    statements: Callable[[Program], str] = lambda program: program.statements
    env: dict[str, str] = field(default_factory=dict)
    starts: list[Runner] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.mark = uuid.uuid4().hex[:8]
        self.app_id = f"{self.suite.name}-{self.mark}"
        self.fed = 0
        self._lock = Lock()
        for program in self.suite.programs:
            for name in program.sources:
                self.broker.create_topic(self.topic(program, name), program.partitions, replication=self.replication)
            for name, target in program.targets.items():
                self.broker.create_topic(self.topic(program, name), target.partitions, replication=self.replication)
        self._send([(program, sent) for program in self.suite.programs for sent in program.first()])

    def topic(self, program: Program, name: str) -> str:
        """The topic of a short name."""
        return f"{self.mark}-{program.name}-{name}"

    # --- records ---

    def feed(self, count: int) -> None:
        """Add the records of the next numbers to the sources."""
        with self._lock:
            numbers = range(self.fed, self.fed + count)
            self._send(
                [
                    (program, sent)
                    for number in numbers
                    for program in self.suite.programs
                    for sent in program.records(number)
                ]
            )
            self.fed += count

    def _send(self, records: list[tuple[Program, tuple[str, Record]]]) -> None:
        by_topic: dict[str, list[Record]] = {}
        for program, (name, record) in records:
            by_topic.setdefault(self.topic(program, name), []).append(record)
        for topic, each in by_topic.items():
            self.broker.produce(topic, each, 60)

    @contextmanager
    def light_load(self, count: int = 5, every_s: float = 0.1) -> Iterator[None]:
        """Feeds all the time in the block, which ends with the error of the feed, if there is one."""
        with repeated(lambda: self.feed(count), every_s):
            yield

    # --- the processor ---

    @property
    def runner(self) -> Runner:
        """The newest process."""
        return self.starts[-1]

    @property
    def state(self) -> Path:
        """The state directory."""
        return self.folder / "state"

    def prepare(self, agent: Agent | None = None, state: Path | None = None) -> Runner:
        """A process of the processor that has not been started."""
        options = f"{FAST_COMPILER} {'' if agent is None else agent.option()}"
        variables = {"LSQL_TOPICS": self._declarations(), "JAVA_OPTS": options, **self.env}
        runner = Runner(self.broker.bootstrap, self._sql(), self.app_id, state or self.state, **variables)
        self.starts.append(runner)
        return runner

    def start(self, agent: Agent | None = None, state: Path | None = None) -> Runner:
        """Start a process of the processor; returns when its API responds."""
        return self.prepare(agent, state).start()

    def run_until_killed(self, agent: Agent, deadline_s: float = 90) -> None:
        """Start a process whose JVM an armed agent kills, before or after the API responds."""
        runner = self.prepare(agent)
        try:
            runner.start()
        except ProcessFailed:
            if runner.exit_code != ENDED:
                raise
        code = runner.wait(deadline_s)
        assert code == ENDED, f"the processor ended with {code}:\n{runner.output()[-3000:]}"

    def agent(self, point: Point) -> Agent:
        """The agent of a point, which is not armed."""
        return Agent(point, Path(tempfile.mkdtemp(dir=self.folder)))

    def live_for(self, seconds: float) -> None:
        """Wait; AssertionError if the processor ends by itself."""
        try:
            code = self.runner.wait(seconds)
        except ProcessFailed:
            return
        raise AssertionError(f"the processor ended with {code}:\n{self.runner.output()[-3000:]}")

    def await_end(self, jvm: int, expected: int = ENDED, deadline_s: float = 30) -> None:
        """Wait until the killed processor has ended, and its JVM too, as in a container."""
        code = self.runner.wait(deadline_s)
        assert code == expected, f"the processor ended with {code}:\n{self.runner.output()[-3000:]}"
        deadline = time.monotonic() + deadline_s
        while not has_ended(jvm):
            assert time.monotonic() < deadline, f"the JVM {jvm} still runs after {deadline_s} s"
            time.sleep(POLL_S)

    def catch_up(self, deadline_s: float = 90) -> None:
        """Wait until the processor has read all records of its sources."""
        ends = {
            (topic, partition): end
            for topic in self._sources()
            for partition, end in self.broker.end_offsets(topic).items()
        }
        self.runner.wait_for(
            lambda stream: (
                {(place["topic"], place["partition"]): place["position"] or 0 for place in stream["offsets"]} == ends
            ),
            deadline_s,
            f"all of {sum(ends.values())} records",
        )

    def _sources(self) -> list[str]:
        return [self.topic(program, name) for program in self.suite.programs for name in program.sources]

    def _declarations(self) -> str:
        return json.dumps(
            {
                self.topic(program, name): {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": fields}}
                for program in self.suite.programs
                for name, fields in program.sources.items()
            }
        )

    def _sql(self) -> str:
        texts = [f"SET processing.mode='{self.suite.mode}';", _SETTINGS[self.guarantee]]
        statements = []
        for program in self.suite.programs:
            names = {name: self.topic(program, name) for name in (*program.sources, *program.targets)}
            texts.append(program.settings.format(**names))
            quoted = {name: f"`{topic}`" for name, topic in names.items()}
            statements.append(self.statements(program).format(**quoted, table="table_of_rows"))
        return "\n".join([*texts, ";\n".join(statements)])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for runner in self.starts:
            if runner.running:
                # A JVM that has just started can outlive its worker.
                with suppress(AssertionError, ProcessLookupError):
                    os.kill(runner.jvm_pid(), signal.SIGKILL)
            runner.kill()

    # --- the check ---

    def check(
        self,
        context: str = "",
        is_own: Callable[[Record], bool] = lambda _: True,
        forgiven: Collection[Kind] = (),
    ) -> Outcome:
        """Compare all targets with the models; AssertionError with the first differences that the guarantee forbids.

        Args:
            context: what happened, for the message.
            is_own: whether a record is from the processor, not from another producer.
            forgiven: differences that are accepted beyond the guarantee.
        """
        if self.suite.mode == "auto" and self.runner.running:
            self.runner.stop()  # an open batch writes results after it has read their records
        accepted = FORGIVEN[self.guarantee] | set(forgiven)
        doubled: dict[str, int] = {}
        forbidden: list[tuple[str, Difference]] = []
        self.await_closed_transactions()
        for program in self.suite.programs:
            sources = {name: self.broker.consume_all(self.topic(program, name)) for name in program.sources}
            for name, target in program.targets.items():
                topic = self.topic(program, name)
                for reader in READERS:
                    records = [record for record in self.broker.consume_all(topic, isolation=reader) if is_own(record)]
                    comparison = compare(records, target.model(sources), target.group_of, target.result_of)
                    doubled[f"{program.name}/{name}/{reader}"] = comparison.counts.get(Kind.DOUBLED, 0)
                    wrong = [each for each in comparison.differences if each.kind not in accepted]
                    forbidden += [(f"{program.name}/{name}/{reader}", each) for each in wrong]
        if forbidden:
            shown = "\n".join(f"{place}: {each}" for place, each in forbidden[:SHOWN])
            raise AssertionError(
                f"{len(forbidden)} differences under {self.guarantee}, suite {self.suite.name}, {self.fed} numbers"
                f" {context}\n{shown}\n{self.runner.output()[-3000:]}"
            )
        return Outcome(doubled)

    def await_closed_transactions(self, deadline_s: float = 5) -> None:
        """Wait until a reader of committed records sees the ends of all targets; AssertionError after the deadline."""
        topics = [self.topic(program, name) for program in self.suite.programs for name in program.targets]
        deadline = time.monotonic() + deadline_s
        while (open_at := self._open(topics)) and time.monotonic() < deadline:
            time.sleep(POLL_S)
        assert not open_at, f"transactions are open for {deadline_s} s: {open_at}"

    def _open(self, topics: list[str]) -> dict[str, tuple[dict[int, int], dict[int, int]]]:
        """The partitions' ends for readers of committed records and for others, of topics where they differ."""
        by_topic = {}
        for topic in topics:
            ends = self.broker.end_offsets(topic)
            stable = self.broker.end_offsets(topic, isolation="read_committed")
            if ends != stable:
                by_topic[topic] = stable, ends
        return by_topic
