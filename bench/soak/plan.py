"""When the faults of a run happen, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

LEAST_MINUTES = 3
JUDGED_MINUTES = 10
"""A shorter run shows only whether records are lost: most of its time is warm-up."""
_ROUND_MINUTES = 40
_SETTLE_S = 60.0
_SETTLE_SHARE = 0.3
_WARM_UP_S = 180.0
_WARM_UP_SHARE = 0.5
_BURST_S = 20.0
_BURST_SHARE = 0.1


class Fault(StrEnum):
    """What happens at the beginning of a phase, in the order of a round."""

    PARTITION = "partition added"
    KILL = "JVM killed"
    BURST = "burst"
    STOP = "stopped and started"
    BROKER = "broker restarted"

    @property
    def changes_level(self) -> bool:
        """Whether memory, descriptors and threads may differ before and after: the process is new, or it reads one
        more partition.
        """
        return self in (Fault.PARTITION, Fault.KILL)


@dataclass(frozen=True, slots=True)
class Slot:
    """The planned part of a run: a fault at its beginning, if any, then quiet until its end. Seconds of the run."""

    fault: Fault | None
    begin_s: float
    end_s: float

    @property
    def name(self) -> str:
        """The fault, or `start`."""
        return self.fault or "start"

    @property
    def burst_s(self) -> float:
        """How long a burst lasts."""
        return min(_BURST_S, _BURST_SHARE * (self.end_s - self.begin_s))

    @property
    def settle_s(self) -> float:
        """How long after the fault samples are not judged: a new process warms up, and the heap shrinks once a
        minute.
        """
        length_s = self.end_s - self.begin_s
        if self.fault in (None, Fault.KILL):
            return min(_WARM_UP_S, _WARM_UP_SHARE * length_s)
        return min(_SETTLE_S, _SETTLE_SHARE * length_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A slot that has ended. Seconds of the run."""

    name: str
    level: int
    """Samples are compared only within a level; it is increased by a fault that `changes_level`."""
    begin_s: float
    caught_up_s: float
    """When the processor had read almost all records again."""
    quiet_s: float
    """Samples from here to the end are judged."""
    end_s: float


def slots(minutes: float, faults_of_round: Sequence[Fault] = tuple(Fault)) -> list[Slot]:
    """One slot without a fault, then rounds of faults; all slots are equally long."""
    rounds = max(1, round(minutes / _ROUND_MINUTES))
    faults: list[Fault | None] = [None, *(list(faults_of_round) * rounds)]
    length_s = minutes * 60 / len(faults)
    return [Slot(fault, number * length_s, (number + 1) * length_s) for number, fault in enumerate(faults)]


def phase(slot: Slot, level: int, *, begin_s: float, caught_up_s: float) -> Phase:
    """The phase of a slot whose fault is over. It begins late if the fault before took longer than its slot."""
    return Phase(
        name=slot.name,
        level=level,
        begin_s=begin_s,
        caught_up_s=caught_up_s,
        quiet_s=caught_up_s + slot.settle_s,
        end_s=slot.end_s,
    )


def phase_at(phases: Sequence[Phase], at_s: float) -> str:
    """The name of the phase at a time: of the last one that began before."""
    return next((each.name for each in reversed(phases) if each.begin_s <= at_s), phases[0].name)
