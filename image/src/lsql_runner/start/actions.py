"""The changes of a start as data: in the schema registry, on the brokers, in the state directory.

`decision.decide` returns the list; `preparation.carry_out` and `lsql validate` read it. An action has all data that it
needs, so that it can also be carried out later, for example after a first batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lsql_runner.events.batches import Partition
from lsql_runner.kafka.ports import TopicRequest
from lsql_runner.plan.conversion import ConvertedQuery
from lsql_runner.start.registry_schemas import TargetSchema
from lsql_runner.state.saved_state import Pinned


@dataclass(frozen=True, slots=True)
class RegisterSchema:
    """Register a schema as a new version of its target's subject."""

    schema: TargetSchema


@dataclass(frozen=True, slots=True)
class CreateTopic:
    """Create a target topic."""

    request: TopicRequest


@dataclass(frozen=True, slots=True)
class DropCheckpoint:
    """Delete the checkpoint of a query that the program does not have any more."""

    generation: int
    query: str


@dataclass(frozen=True, slots=True)
class BeginCheckpoints:
    """Begin empty checkpoints, in place of files that have their names."""

    generation: int
    queries: tuple[str, ...]
    runs_of: Mapping[str, int] = field(default_factory=dict)
    """By query without state: the generation with its last checkpoint, whose run it continues. Its INSERTs do not write
    again what that run has written."""


@dataclass(frozen=True, slots=True)
class RewindCheckpoint:
    """Move the saved positions of a checkpoint back, in topics that were deleted and created again, or have lost their
    last records. Its state stays."""

    generation: int
    query: str
    positions: Mapping[Partition, int]
    """By partition of these topics: the last possible next offset."""


@dataclass(frozen=True, slots=True)
class ConvertStates:
    """Copy all checkpoints to a new generation, and convert the state of queries there."""

    generation: int
    to: int
    queries: tuple[ConvertedQuery, ...]


@dataclass(frozen=True, slots=True)
class ChangeMeaning:
    """Continue a query that computes the values of its state in another way. Results that a killed process has written
    since the last batch stay, although the query may not have them any more."""

    generation: int
    query: str


@dataclass(frozen=True, slots=True)
class PinProgram:
    """Write program.json: the program, its fingerprint, schemas and generation."""

    pinned: Pinned


@dataclass(frozen=True, slots=True)
class DropOtherGenerations:
    """Delete the checkpoints of all generations but one: older ones, and those that a killed start has left."""

    generation: int


Action = (
    RegisterSchema
    | CreateTopic
    | DropCheckpoint
    | BeginCheckpoints
    | RewindCheckpoint
    | ConvertStates
    | ChangeMeaning
    | PinProgram
    | DropOtherGenerations
)


def describe(action: Action) -> str:
    """One line for people, for example `create topic fast with 3 partitions`."""
    match action:
        case RegisterSchema(schema):
            return f"register the {schema.kind} schema of subject {schema.subject}"
        case CreateTopic(request):
            return _creation(request)
        case DropCheckpoint(generation, query):
            return f"delete the checkpoint of query {query} in generation {generation}"
        case BeginCheckpoints(generation, queries, _):
            return f"begin empty checkpoints in generation {generation}: {', '.join(queries)}"
        case ConvertStates(generation, to, queries):
            names = ", ".join(each.new.name for each in queries)
            return f"copy the checkpoints of generation {generation} to {to}, and convert the state of {names}"
        case RewindCheckpoint(generation, query, positions):
            topics = ", ".join(sorted({place.topic for place in positions}))
            return f"move back the positions in {topics} in the checkpoint of query {query} in generation {generation}"
        case ChangeMeaning(generation, query):
            return f"continue query {query} in generation {generation} with a new meaning of its state"
        case PinProgram(pinned):
            return f"write program.json for generation {pinned.generation}"
        case DropOtherGenerations(generation):
            return f"delete the state of all generations but {generation}"


def _creation(request: TopicRequest) -> str:
    details = [
        *([] if request.partitions is None else [f"{request.partitions} partitions"]),
        *([] if request.replication is None else [f"{request.replication} replicas"]),
        *(f"{key}={value}" for key, value in request.config),
    ]
    return f"create topic {request.name}" + (f" with {', '.join(details)}" if details else "")
