"""The queries of a plan, with the targets that they write."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from itertools import takewhile

from lsql_runner.bind.bound import SinkTarget, WindowSpec
from lsql_runner.bind.error_policies import ErrorPolicies
from lsql_runner.bind.expr import FunctionCall, walk
from lsql_runner.bind.functions.table import FUNCTIONS
from lsql_runner.formats.catalog import Format, TopicSchema
from lsql_runner.plan.columns import InvalidPlan
from lsql_runner.plan.nodes import Aggregate, Having, Join, PlanNode, Project, ReadTopic, Stateful, Unnest
from lsql_runner.plan.tree import all_exprs, keeps_state, needs_consolidation, nodes
from lsql_runner.types import Struct


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteTopic:
    """Writes every row of the input as a record to a topic."""

    input: Project
    topic: str
    key_format: Format
    value_format: Format
    key_schema: str | None = None
    """The text of the schema of keys; None if records contain no schema id for the key."""
    value_schema: str | None = None
    key_id: int | None = None
    """The id of the schema in the registry; None before it is registered."""
    value_id: int | None = None
    errors: ErrorPolicies = ErrorPolicies()
    """What happens to records that cannot be read or written."""
    insert: str = ""
    """The name of the INSERT (`plan.insert_names`), unique in its query. The next version of the INSERT keeps it."""

    @property
    def name(self) -> str:
        return self.topic

    @property
    def stateful(self) -> bool:
        return keeps_state(self.input)


@dataclass(frozen=True, slots=True)
class WriteSink:
    """Writes every row of the input as a row to a sink."""

    input: Project
    target: SinkTarget

    @property
    def name(self) -> str:
        return self.target.name

    @property
    def stateful(self) -> bool:
        return keeps_state(self.input)

    def __post_init__(self) -> None:
        kind = self.input.value_type
        names = kind.names if isinstance(kind, Struct) else ()
        if names != tuple(name for name, _ in self.target.columns):
            raise InvalidPlan(f"rows of {self.target.name} do not have the columns {', '.join(names)}")
        if not set(self.target.key) <= set(names):
            raise InvalidPlan(f"the key {', '.join(self.target.key)} is not among {', '.join(names)}")


Write = WriteTopic | WriteSink

MAX_CONTINUOUS_READS = 128
"""A continuous query with more would have more tasks than the engine runs at the same time."""

STATELESS = "stateless"
"""The query of all stateless INSERTs into topics."""
DEAD_LETTERS = "dead-letters"
"""The query that writes the dead letters of stateful INSERTs."""
_LEAST_FINAL_MS = 10_000
"""Windows that end more often have batches: an open batch would be closed as often."""
SHARED_NAMES = (STATELESS, DEAD_LETTERS)
"""The fixed names of the shared queries: each serves several INSERTs, and a program has at most one of them."""


@dataclass(frozen=True, slots=True)
class Query:
    """One streaming query: one sequence of batches, one checkpoint, one position.

    All stateless INSERTs into topics share one query. Each stateful INSERT has a separate query, because the watermark
    that closes its windows must not depend on other topics. Each INSERT into a sink has a separate query, because the
    server may be slow or unavailable.
    """

    name: str
    writes: tuple[Write, ...]
    dead_letters_of: tuple[WriteTopic, ...] = ()
    """Stateful INSERTs of other queries. This query writes the dead letters of their failed records."""
    _: KW_ONLY
    continuous: bool = False
    """Whether the query processes each record when it arrives, instead of batches."""
    real_time: bool = False
    """Whether the query keeps state, and processes each record when it arrives while it has no backlog."""
    at_least_once: bool = False
    """Whether its results may be written again after a kill: then nobody knows which ones an open batch has written."""

    def __post_init__(self) -> None:
        if self.sink_write is not None and len(self.writes) > 1:
            raise InvalidPlan(f"the query {self.name} has a sink and other targets")
        if self.continuous and not self.can_be_continuous:
            raise InvalidPlan(f"the query {self.name} cannot be continuous")
        if self.real_time and not self.can_be_real_time:
            raise InvalidPlan(f"the query {self.name} cannot run in real time")

    @property
    def sink_write(self) -> WriteSink | None:
        """The write of the query to a sink; None if it writes to topics."""
        return next((write for write in self.writes if isinstance(write, WriteSink)), None)

    @property
    def stateful(self) -> bool:
        return bool(self.stores)

    @property
    def can_be_continuous(self) -> bool:
        """Whether it keeps no state, writes to topics, and has a task for each topic that an INSERT reads."""
        return not self.stateful and self.sink_write is None and self.read_count <= MAX_CONTINUOUS_READS

    @property
    def only_in_batches(self) -> str | None:
        """What a query with state has that only batches process; None if it can run in real time, or keeps no state.

        In real time each record has a result in each of its groups. After a kill, a batch has one result of a group,
        which is left out if the target has it: so the same records must have the same result. A result that the batch
        does not have is deleted. A result that is the only one is left out in any case.
        """
        if not self.stateful:
            return None
        if self.sink_write is not None:
            return f"the sink {self.sink_write.target.sink}"
        if self._unnests and any(write.errors.write == "dlq" for write in self._topic_writes):
            return "LATERAL"  # a failed row has one dead letter in a batch, whatever its elements
        for name in self._functions():
            if name in FUNCTIONS and not FUNCTIONS[name].deterministic:
                return f"{name}()"
        if self.has_one_result:
            return None
        if self.final_window is not None:
            return self._no_final_results()
        if self.deletes_rows and (reason := self._cannot_delete()):
            return reason
        if len(self.stores) > 1 and any(isinstance(store, Join) for store in self.stores):
            return "a join with another join or groups"
        if sum(isinstance(store, Aggregate) for store in self.stores) > 1:
            return "groups of groups"
        return next((reason for store in self.stores if (reason := _only_in_batches(store)) is not None), None)

    @property
    def deletes_rows(self) -> bool:
        """Whether a record may delete a result: of a group, a session, or a pair of rows."""
        return any(
            isinstance(store, Having)
            or (isinstance(store, Join) and store.is_table)
            or (isinstance(store, Aggregate) and (store.of_table or (store.is_session and not store.final)))
            for store in self.stores
        )

    @property
    def final_window(self) -> WindowSpec | None:
        """The window with one result, when it ends; None if each change has a result."""
        return next((store.window for store in self.stores if isinstance(store, Aggregate) and store.final), None)

    def _cannot_delete(self) -> str | None:
        """Why results of an open batch that a killed process has written cannot be deleted."""
        if self.at_least_once:
            return "processing.guarantee"
        if any(write.errors.write != "fail" for write in self._topic_writes):
            return "error.policy.write"  # a failed result is not deleted
        if self._unnests:
            return "LATERAL"  # an element is not deleted
        if any(not write.input.of_table for write in self._topic_writes):
            return "SELECT STREAM of rows that are deleted"
        return self._late_records()  # those of a session have one identity

    def _late_records(self) -> str | None:
        return "late.records" if any(write.errors.late != "drop" for write in self._topic_writes) else None

    @property
    def _topic_writes(self) -> Iterator[WriteTopic]:
        return (write for write in self.writes if isinstance(write, WriteTopic))

    @property
    def _unnests(self) -> bool:
        return any(isinstance(node, Unnest) for write in self.writes for node in nodes(write.input))

    def _no_final_results(self) -> str | None:
        """Why an open batch cannot only count: it writes nothing, and the batch after it the results."""
        assert self.final_window is not None
        if len(self.stores) > 1:
            return "final results with HAVING, a join or other groups"
        if self.final_window.is_session or self.final_window.advance_ms < _LEAST_FINAL_MS:
            return "final results of sessions, or of windows that end every few seconds"
        return self._late_records()

    @property
    def waits_in_spans(self) -> bool:
        """Whether records without a match wait in the spans of a join of streams."""
        return any(isinstance(store, Join) and store.in_spans and store.emits_unmatched for store in self.stores)

    @property
    def has_one_result(self) -> bool:
        """Whether a record, or a pair of records, has one result, for ever: a lookup, or a join of streams."""
        match self.stores:
            case (Join(in_spans=True),):
                return True
        return self.is_lookup

    @property
    def is_lookup(self) -> bool:
        """Whether its only state is a table in which a stream is looked up: a record has one result at most.

        A record that is also a row of the table, and elements of an array above the join, are excluded: the one may be
        processed before the other, and the others may be those of two versions of the row.
        """
        match self.stores:
            case (Join(is_lookup=True) as join,):
                table, stream = (set(_topics(side)) for side in _table_and_stream(join))
                above = takewhile(lambda node: node is not join, nodes(self.writes[0].input))
                return not table & stream and not any(isinstance(node, Unnest) for node in above)
        return False

    @property
    def table_topics(self) -> frozenset[str]:
        """Of a lookup: the topics of its table."""
        joins = (store for store in self.stores if isinstance(store, Join) and self.is_lookup)
        return frozenset(topic for join in joins for topic in _topics(_table_and_stream(join)[0]))

    def _functions(self) -> Iterator[str]:
        exprs = (expr for write in self.writes for node in nodes(write.input) for expr in all_exprs(node))
        return (part.function for expr in exprs for part in walk(expr) if isinstance(part, FunctionCall))

    @property
    def can_be_real_time(self) -> bool:
        return self.stateful and self.only_in_batches is None

    @property
    def read_count(self) -> int:
        """How often topics are read: each INSERT reads its topics itself."""
        writes = (*self.writes, *self.dead_letters_of)
        return sum(isinstance(node, ReadTopic) for write in writes for node in nodes(write.input))

    @property
    def stores(self) -> tuple[Stateful, ...]:
        return tuple(node for write in self.writes for node in nodes(write.input) if isinstance(node, Stateful))

    @property
    def waits_for_watermark(self) -> bool:
        """Whether results are emitted when the watermark has passed them: final windows, records without a match."""
        return any(_waits_for_watermark(store) for store in self.stores)

    @property
    def target_topics(self) -> tuple[str, ...]:
        """Every topic that the query writes, dead letter topics too."""
        inserts = [write for write in (*self.writes, *self.dead_letters_of) if isinstance(write, WriteTopic)]
        queues = (write.errors.dead_letter_topic for write in inserts)
        own = (write.topic for write in self.writes if isinstance(write, WriteTopic))
        return tuple(dict.fromkeys((*own, *(topic for topic in queues if topic is not None))))

    @property
    def sources(self) -> tuple[TopicSchema, ...]:
        topics: dict[str, TopicSchema] = {}
        for write in (*self.writes, *self.dead_letters_of):
            topics |= {n.schema.topic: n.schema for n in nodes(write.input) if isinstance(n, ReadTopic)}
        return tuple(topics.values())


def _table_and_stream(lookup: Join) -> tuple[PlanNode, PlanNode]:
    left, right = lookup.left.input, lookup.right.input
    return (left, right) if lookup.left.is_table else (right, left)


def _topics(node: PlanNode) -> Iterator[str]:
    return (each.schema.topic for each in nodes(node) if isinstance(each, ReadTopic))


def _waits_for_watermark(store: Stateful) -> bool:
    match store:
        case Join():
            return store.emits_unmatched
        case Aggregate():
            return store.final
    return False


def _only_in_batches(store: Stateful) -> str | None:
    match store:
        case Join(is_table=True) if needs_consolidation(store):
            by_keys = store.left.by_key and store.right.by_key
            by_other_values = "a join of tables by other values than the keys"
            return "an outer join of tables with windowed keys" if by_keys else by_other_values
        case Join(is_table=True):
            return None
        case Join(is_lookup=True):
            return "LATERAL of joined rows, or a topic joined with itself"
        case Join(within_ms=None):
            return "a join by another value than the key of the table"
    return None


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a program, which run, explain, topology and fingerprint read."""

    queries: tuple[Query, ...]

    @property
    def writes(self) -> tuple[Write, ...]:
        """The writes of all INSERTs, to topics and to sinks."""
        return tuple(write for query in self.queries for write in query.writes)

    @property
    def topic_writes(self) -> tuple[WriteTopic, ...]:
        return tuple(write for write in self.writes if isinstance(write, WriteTopic))

    @property
    def sink_writes(self) -> tuple[WriteSink, ...]:
        """The writes to sinks."""
        return tuple(write for write in self.writes if isinstance(write, WriteSink))

    @property
    def dead_letter_topic(self) -> str | None:
        """The dead letter topic; None if the program has none."""
        topics = (write.errors.dead_letter_topic for write in self.topic_writes)
        return next((topic for topic in topics if topic is not None), None)

    @property
    def targets(self) -> tuple[str, ...]:
        """Every topic that is written: the targets of the INSERTs, then the dead letter topic."""
        queue = () if self.dead_letter_topic is None else (self.dead_letter_topic,)
        return tuple(dict.fromkeys((*(write.topic for write in self.topic_writes), *queue)))

    @property
    def sources(self) -> tuple[TopicSchema, ...]:
        return tuple({s.topic: s for query in self.queries for s in query.sources}.values())

    @property
    def stateful(self) -> bool:
        return any(query.stateful for query in self.queries)

    @property
    def continuous(self) -> bool:
        """Whether a query processes each record when it arrives."""
        return any(query.continuous for query in self.queries)


def with_dead_letters(plan: Plan) -> Plan:
    """The plan with a query that writes the dead letters of its stateful INSERTs, if any has the read policy `dlq`.

    A stateful query cannot also emit the original records. Because the query is separate, the state can be continued
    when the policy changes.
    """
    queries = tuple(query for query in plan.queries if query.name != DEAD_LETTERS)
    continuous = any(query.continuous for query in plan.queries if query.name == DEAD_LETTERS)
    writes = tuple(write for write in plan.topic_writes if write.stateful and write.errors.read == "dlq")
    return Plan((*queries, Query(DEAD_LETTERS, (), writes, continuous=continuous)) if writes else queries)


def with_continuous_queries(plan: Plan, *, real_time: bool) -> Plan:
    """The plan, whose queries process each record when it arrives, if they can. Queries of sinks have batches.

    Args:
        real_time: whether queries with state do so, too.
    """
    return Plan(
        tuple(
            replace(query, continuous=query.can_be_continuous, real_time=real_time and query.can_be_real_time)
            for query in plan.queries
        )
    )
