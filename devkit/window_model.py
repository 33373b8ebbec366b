"""A model of windows, grace and lateness in plain Python; tests compare the engine with it.

The rules, as in Spark's structured streaming:
- the watermark of a batch is the largest event time of the batches before it, less the grace; it never falls;
- lateness depends on the watermark of the batch before; the watermark of a batch only closes windows, after the batch;
- a record is in every window `[n * advance, n * advance + size)` that contains its event time, for n from 0;
- for a window that ends at or before the watermark of the batch before, the record is late, and dropped;
- after a batch each window that it changed has one new value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar


class Timed(Protocol):
    """A record of a window."""

    @property
    def key(self) -> str: ...

    @property
    def at_ms(self) -> int: ...


@dataclass(frozen=True)
class Event:
    key: str
    at_ms: int
    amount: int


@dataclass(frozen=True)
class ModelWindow:
    size_ms: int
    advance_ms: int
    grace_ms: int

    def starts(self, at_ms: int) -> list[int]:
        """The starts of all windows that contain a time."""
        last = at_ms // self.advance_ms * self.advance_ms
        return list(range(last, max(at_ms - self.size_ms, -1), -self.advance_ms))


WindowKey = tuple[str, int]
"""A key and the start of a window in ms."""


@dataclass(frozen=True, kw_only=True)
class Value:
    count: int
    total: int
    least: int
    most: int
    mean: float
    timestamp_ms: int
    """The largest event time, which is the timestamp of the result."""


Record = TypeVar("Record", bound=Timed)
Result = TypeVar("Result")


@dataclass
class ModelOutput(Generic[Result]):
    """`changelogs` has the values of each window in the order of their output."""

    changelogs: dict[WindowKey, list[Result]] = field(default_factory=dict)
    late: int = 0
    """Dropped records, counted once for each closed window."""


def model_output(batches: Sequence[Sequence[Event]], window: ModelWindow) -> ModelOutput[Value]:
    """The output of the model for micro-batches."""
    return model_output_with(batches, window, _value)


def model_output_with(
    batches: Sequence[Sequence[Record]], window: ModelWindow, value: Callable[[Sequence[Record]], Result]
) -> ModelOutput[Result]:
    """The output of the model for records of any type, with a function that computes the value of a window."""
    model: ModelOutput[Result] = ModelOutput()
    records: dict[WindowKey, list[Record]] = {}
    late_until: int | None = None  # of the batch before
    watermark: int | None = None  # of this batch
    for batch in batches:
        changed: set[WindowKey] = set()
        for event in batch:
            for start in window.starts(event.at_ms):
                if late_until is not None and start + window.size_ms <= late_until:
                    model.late += 1
                    continue
                records.setdefault((event.key, start), []).append(event)
                changed.add((event.key, start))
        for key in changed:
            model.changelogs.setdefault(key, []).append(value(records[key]))
        newest = max(event.at_ms for event in batch) - window.grace_ms
        late_until = watermark
        watermark = newest if watermark is None else max(watermark, newest)
    return model


def _value(events: Sequence[Event]) -> Value:
    amounts = [event.amount for event in events]
    return Value(
        count=len(amounts),
        total=sum(amounts),
        least=min(amounts),
        most=max(amounts),
        mean=sum(amounts) / len(amounts),
        timestamp_ms=max(event.at_ms for event in events),
    )
