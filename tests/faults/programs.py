"""The programs, their records, and a model of each: the results that the records of the sources have.

The records of a program have numbers: `records(n)` returns those that number n adds to the sources. A model computes
results from the records that the sources have in the end, so that a producer may repeat records.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from devkit.records import Record
from tests.faults.records import (
    BEGIN_MS,
    FIELDS,
    KEYS,
    STEP_MS,
    WINDOW_MS,
    Sent,
    Sources,
    by_group,
    groups_of,
    json_record,
    json_result,
    key_of,
    numbered,
    numbered_key,
    result,
    with_values,
)
from tests.faults.results import TOMBSTONE, Group, changing, deletable, every_one_of, final


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A target of a program, and its model."""

    model: Callable[[Sources], Mapping[str, Group]]
    group_of: Callable[[Record], str] = key_of
    result_of: Callable[[Record], str] = json_result
    partitions: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """INSERTs and a model of their targets. SQL contains the short names of topics in braces."""

    name: str
    sources: Mapping[str, Mapping[str, str]]
    """The fields of each source."""
    targets: Mapping[str, Target]
    statements: str
    settings: str = ""
    records: Callable[[int], Sent]
    first: Callable[[], Sent] = list
    """Records that the sources have before the first number."""
    partitions: int = 3
    """Of each source."""


# --- programs without state ---


def _filtered(sources: Sources) -> Mapping[str, Group]:
    return groups_of(
        (key, result({"id": value["id"], "n": value["n"]}))
        for key, value, _ in with_values(sources["in"])
        if value["n"] > 2
    )


FILTER = Program(
    name="filter",
    sources={"in": FIELDS},
    targets={"out": Target(model=_filtered)},
    statements="INSERT INTO {out} SELECT STREAM id, n FROM {in} WHERE n > 2",
    records=lambda number: [("in", numbered(number))],
)


def _unnested(sources: Sources) -> Mapping[str, Group]:
    return groups_of(
        (key, result({"id": value["id"], "item": item}))
        for key, value, _ in with_values(sources["in"])
        for item in value["items"]
    )


LATERAL = Program(
    name="lateral",
    sources={"in": {**FIELDS, "items": "array<string>"}},
    targets={"out": Target(model=_unnested)},
    statements="INSERT INTO {out} SELECT STREAM id, item FROM {in} LATERAL items AS item",
    records=lambda number: [("in", numbered(number, items=[f"item-{each}" for each in range(number % 5)]))],
)

_MALFORMED_EVERY = 7


def _maybe_malformed(number: int) -> Sent:
    if number % _MALFORMED_EVERY:
        return [("in", numbered(number))]
    return [("in", Record(numbered_key(number), b'{"id": %d, "n' % number, timestamp_ms=BEGIN_MS + number * STEP_MS))]


def _well_formed(sources: Sources) -> Mapping[str, Group]:
    return _filtered({"in": [record for record in sources["in"] if not _is_malformed(record)]})


def _dead(sources: Sources) -> Mapping[str, Group]:
    return groups_of((key_of(record), repr(record.value)) for record in sources["in"] if _is_malformed(record))


def _is_malformed(record: Record) -> bool:
    return not (record.value or b"").endswith(b"}")


DEAD_LETTERS = Program(
    name="dead-letters",
    settings="SET error.policy='dlq'; SET dead.letter.queue='{dead}';",
    sources={"in": FIELDS},
    targets={"out": Target(model=_well_formed), "dead": Target(model=_dead)},
    statements="INSERT INTO {out} SELECT STREAM id, n FROM {in} WHERE n > 2",
    records=_maybe_malformed,
)


def _low_and_high(sources: Sources) -> Mapping[str, Group]:
    return groups_of(
        (f"{key} {part}", result({"id": value["id"], "part": part}))
        for key, value, _ in with_values(sources["in"])
        for part in ("low", "high")
        if (value["n"] < 6 if part == "low" else value["n"] > 3)
    )


TWO_INSERTS = Program(
    name="two-inserts",
    sources={"in": FIELDS},
    targets={
        "out": Target(
            model=_low_and_high,
            group_of=lambda record: f"{key_of(record)} {json.loads(record.value or b'{}').get('part')}",
        )
    },
    statements=(
        "INSERT INTO {out} SELECT STREAM id, 'low' AS part FROM {in} WHERE n < 6;"
        " INSERT INTO {out} SELECT STREAM id, 'high' AS part FROM {in} WHERE n > 3"
    ),
    records=lambda number: [("in", numbered(number))],
)


def _of_both_sources(sources: Sources) -> Mapping[str, Group]:
    return groups_of(
        (f"{key} {part}", result({"id": value["id"], "part": part}))
        for part in ("a", "b")
        for key, value, _ in with_values(sources[part])
        if value["n"] > 2
    )


TWO_SOURCES = Program(
    name="two-sources",
    sources={"a": FIELDS, "b": FIELDS},
    targets={
        "out": Target(
            model=_of_both_sources,
            group_of=lambda record: f"{key_of(record)} {json.loads(record.value or b'{}').get('part')}",
        )
    },
    statements=(
        "INSERT INTO {out} SELECT STREAM id, 'a' AS part FROM {a} WHERE n > 2;"
        " INSERT INTO {out} SELECT STREAM id, 'b' AS part FROM {b} WHERE n > 2"
    ),
    records=lambda number: [("a", numbered(number)), ("b", numbered(number))],
)

# --- groups ---


def _window_of(record: Record) -> str:
    """The key of a windowed result, which ends with the start of the window."""
    key = record.key or b""
    return f"{key[:-8].decode(errors='backslashreplace')} {int.from_bytes(key[-8:], 'big')}"


def _windows(sources: Sources) -> Mapping[str, Group]:
    """All records of a key are in one partition, so each count has one sum."""
    amounts: defaultdict[str, list[int]] = defaultdict(list)
    for key, value, record in with_values(sources["in"]):
        at_ms = record.timestamp_ms or 0
        amounts[f"{key} {at_ms - at_ms % WINDOW_MS}"].append(value["n"])
    return {name: changing(_running(each)) for name, each in amounts.items()}


def _running(amounts: Sequence[int]) -> list[str]:
    """Count and sum after each record."""
    return [result({"count": number, "total": sum(amounts[:number])}) for number in range(1, len(amounts) + 1)]


TUMBLING = Program(
    name="tumbling",
    sources={"in": FIELDS},
    targets={"out": Target(model=_windows, group_of=_window_of)},
    statements="INSERT INTO {out} SELECT STREAM COUNT(*) AS count, SUM(n) AS total FROM {in} WINDOW BY TUMBLE 10s",
    records=lambda number: [("in", numbered(number))],
)

_COLOURS = 5


def _coloured(number: int) -> Sent:
    """The amount is the same for all records of a colour: each count has one sum, whatever the order of partitions."""
    colour = number % _COLOURS
    return [("in", numbered(number, colour=f"colour-{colour}", amount=colour + 1))]


def _groups(sources: Sources) -> Mapping[str, Group]:
    amounts: defaultdict[str, list[int]] = defaultdict(list)
    for _, value, _ in with_values(sources["in"]):
        amounts[value["colour"]].append(value["amount"])
    return {name: changing(_running(each)) for name, each in amounts.items()}


GROUPED = Program(
    name="grouped",
    sources={"in": {**FIELDS, "colour": "string not null", "amount": "int not null"}},
    targets={"out": Target(model=_groups)},
    statements="INSERT INTO {out} SELECT STREAM COUNT(*) AS count, SUM(amount) AS total FROM {in} GROUP BY colour",
    records=_coloured,
)

# --- groups whose results may be deleted ---

_NOT_IN_RESULT = 4


def _not_each_fourth(sources: Sources) -> Mapping[str, Group]:
    groups = {}
    for name, group in _windows(sources).items():
        counts = [each for each in group.positions if json.loads(each)["count"] % _NOT_IN_RESULT]
        is_deleted = len(group.positions) % _NOT_IN_RESULT == 0
        groups[name] = deletable(counts, TOMBSTONE if is_deleted else counts[-1])
    return groups


HAVING = Program(
    name="having",
    sources={"in": FIELDS},
    targets={"out": Target(model=_not_each_fourth, group_of=_window_of)},
    statements=(
        "INSERT INTO {out} SELECT STREAM COUNT(*) AS count, SUM(n) AS total FROM {in} WINDOW BY TUMBLE 10s"
        f" HAVING COUNT(*) % {_NOT_IN_RESULT} <> 0"
    ),
    records=lambda number: [("in", numbered(number))],
)

_GAP_MS = 1_000
_SILENT_EVERY = 5


def _with_pauses(number: int) -> Sent:
    """A key has a record in 0.65 s, but for each fifth time: then its session ends."""
    return [] if number // KEYS % _SILENT_EVERY == 0 else [("in", numbered(number))]


def _session_of(record: Record) -> str:
    """The key of a session's result, which ends with its last and its first time."""
    key = record.key or b""
    last, first = (int.from_bytes(key[at:][:8], "big") for at in (-16, -8))
    return f"{key[:-16].decode(errors='backslashreplace')} {first} {last}"


def _sessions(sources: Sources) -> Mapping[str, Group]:
    """The records of a key arrive in order, so each session has had the bounds of its first records."""
    groups: dict[str, Group] = {}
    sessions: dict[str, list[int]] = {}
    for key, _, record in with_values(sources["in"]):
        times = sessions.get(key, [])
        at_ms = record.timestamp_ms or 0
        if times and at_ms - times[-1] <= _GAP_MS:
            earlier = f"{key} {times[0]} {times[-1]}"
            groups[earlier] = deletable(groups[earlier].positions, TOMBSTONE)
            times.append(at_ms)
        else:
            times = sessions[key] = [at_ms]
        count = result({"count": len(times)})
        groups[f"{key} {times[0]} {at_ms}"] = deletable([count], count)
    return groups


SESSIONS = Program(
    name="sessions",
    sources={"in": FIELDS},
    targets={"out": Target(model=_sessions, group_of=_session_of)},
    statements="INSERT INTO {out} SELECT STREAM COUNT(*) AS count FROM {in} WINDOW BY SESSION 1s",
    records=_with_pauses,
)

_CITIES = 7


def _moving(number: int) -> Sent:
    """Each key is in another city with each of its records."""
    row = json_record(numbered_key(number), {"city": f"city-{(number + number // KEYS) % _CITIES}"}, number)
    return [("rows", replace(row, value=None) if number % _NOT_IN_RESULT == 0 else row)]


def _cities(sources: Sources) -> Mapping[str, Group]:
    """How many keys are in each city at the end. In between, a number may be any, also twice."""
    last = {key_of(record): json.loads(record.value or b"{}").get("city") for record in sources["rows"]}
    numbers = Counter(last.values())
    cities = (f"city-{number}" for number in range(_CITIES))
    return {city: final(result({"count": numbers[city]}) if numbers[city] else TOMBSTONE) for city in cities}


CITIES = Program(
    name="cities",
    sources={"rows": {"city": "string not null"}},
    targets={"out": Target(model=_cities)},
    statements="INSERT INTO {out} SELECT TABLE COUNT(*) AS count FROM {rows} GROUP BY city",
    records=_moving,
)

# --- joins ---

_UPDATE_EVERY = 4


def _row(number: int, version: int) -> Record:
    return json_record(b"key-%d" % number, {"name": f"name-{number}", "version": version}, version)


def _with_updates(number: int) -> Sent:
    """A record of the stream, and sometimes a new version of a row."""
    update: Sent = []
    if number % _UPDATE_EVERY == 0:
        row = number // _UPDATE_EVERY
        update = [("rows", _row(row % KEYS, row // KEYS + 1))]
    return [("in", numbered(number)), *update]


def _looked_up(sources: Sources) -> Mapping[str, Group]:
    """Which version a record meets depends on the batch."""
    rows = by_group((key, result(value)) for key, value, _ in with_values(sources["rows"]))
    groups: defaultdict[str, list[list[str]]] = defaultdict(list)
    for key, value, _ in with_values(sources["in"]):
        groups[key].append([result({"id": value["id"], **json.loads(row)}) for row in rows[key]])
    return {key: every_one_of(each) for key, each in groups.items()}


STREAM_TABLE = Program(
    name="stream-table",
    sources={"in": FIELDS, "rows": {"name": "string not null", "version": "int not null"}},
    targets={"out": Target(model=_looked_up)},
    statements=(
        "WITH {table} AS (SELECT TABLE name, version FROM {rows});"
        " INSERT INTO {out} SELECT STREAM s.id AS id, t.name AS name, t.version AS version"
        " FROM {in} AS s JOIN {table} AS t ON s._key = t._key"
    ),
    records=_with_updates,
    first=lambda: [("rows", _row(number, 0)) for number in range(KEYS)],
)


def _two_rows(number: int) -> Sent:
    side = "left" if number % 2 else "right"
    row = number // 2
    return [(side, json_record(b"key-%d" % (row % KEYS), {"version": row // KEYS}, number))]


def _pairs_of_versions(sources: Sources) -> Mapping[str, Group]:
    """The versions of both sides never decrease, and a pair is written once."""
    sides = [_versions(sources[side]) for side in ("left", "right")]
    groups = {}
    for key in sides[0].keys() & sides[1].keys():
        left, right = sides[0][key], sides[1][key]
        positions = {result({"a": a, "b": b}): (a, b) for a in left for b in right}
        groups[key] = Group(positions=positions, required=frozenset({(left[-1], right[-1])}))
    return groups


def _versions(records: Sequence[Record]) -> Mapping[str, list[int]]:
    versions: defaultdict[str, list[int]] = defaultdict(list)
    for key, value, _ in with_values(records):
        versions[key].append(value["version"])
    return versions


TABLE_TABLE = Program(
    name="table-table",
    sources={"left": {"version": "int not null"}, "right": {"version": "int not null"}},
    targets={"out": Target(model=_pairs_of_versions)},
    statements=(
        "INSERT INTO {out} SELECT TABLE a.version AS a, b.version AS b"
        " FROM {left} AS a JOIN {right} AS b ON a._key = b._key"
    ),
    records=_two_rows,
)

_WITHIN_MS = 2_000
_PAYMENTS_AFTER = (3, 8, 70)
"""How many numbers after an order its payments come; the last one is too late."""
_UNPAID_EVERY = 11


def _orders_and_payments(number: int) -> Sent:
    order: Sent = [("orders", json_record(numbered_key(number), {"id": number}, number))]
    for nth, after in enumerate(_PAYMENTS_AFTER):
        paid = number - after
        if paid >= 0 and paid % 3 != nth and paid % _UNPAID_EVERY:
            order.append(("payments", json_record(numbered_key(paid), {"id": paid, "nth": nth}, number)))
    return order


def _paid(sources: Sources) -> Mapping[str, Group]:
    payments: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for _, value, record in with_values(sources["payments"]):
        payments[value["id"]].append((record.timestamp_ms or 0, value["nth"]))
    orders = list(with_values(sources["orders"]))
    groups = groups_of(
        (
            (str(value["id"]), result({"id": value["id"], "nth": nth}))
            for _, value, record in orders
            for at_ms, nth in payments[value["id"]]
            if abs(at_ms - (record.timestamp_ms or 0)) <= _WITHIN_MS
        ),
        is_ordered=False,
    )
    for _, value, _ in orders:
        # An order without a payment is written when event time has advanced, perhaps after the end of the run.
        alone = result({"id": value["id"], "nth": None})
        groups.setdefault(str(value["id"]), Group(positions={alone: (0,)}, required=frozenset()))
    return groups


STREAM_STREAM = Program(
    name="stream-stream",
    sources={"orders": {"id": "long not null"}, "payments": {"id": "long not null", "nth": "int not null"}},
    targets={
        "out": Target(model=_paid, group_of=lambda record: str(json.loads(record.value or b"{}").get("id"))),
    },
    statements=(
        "INSERT INTO {out} SELECT STREAM o.id AS id, p.nth AS nth"
        " FROM {orders} AS o LEFT JOIN {payments} AS p ON o.id = p.id WITHIN 2s GRACE BY 1m"
    ),
    records=_orders_and_payments,
)


@dataclass(frozen=True, slots=True)
class Suite:
    """Programs that one processor runs together."""

    name: str
    programs: tuple[Program, ...]
    mode: str = "batch"
    only_exactly_once: bool = False
    """Whether it has batches with at-least-once delivery, whatever the mode."""


STATELESS = Suite("stateless", (FILTER, LATERAL, DEAD_LETTERS, TWO_INSERTS))
CONTINUOUS = Suite("continuous", (FILTER, LATERAL, DEAD_LETTERS, TWO_INSERTS), "continuous")
GROUPS = Suite("groups", (TUMBLING, GROUPED))
JOINS = Suite("joins", (STREAM_TABLE, TABLE_TABLE, STREAM_STREAM))
REAL_TIME = Suite("real-time", (TUMBLING, GROUPED, STREAM_TABLE, STREAM_STREAM), "auto")
DELETIONS = Suite("deletions", (HAVING, SESSIONS, CITIES, TABLE_TABLE), "auto", only_exactly_once=True)
SUITES = (STATELESS, CONTINUOUS, GROUPS, REAL_TIME, JOINS, DELETIONS)
