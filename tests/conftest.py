"""Fixtures of all layers."""

import signal
import uuid
from collections.abc import Iterator, Mapping
from typing import Protocol

import pytest

from devkit.broker import Broker
from devkit.goldens import Goldens


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="rewrite the golden files")


def pytest_configure() -> None:
    # Without this, TERM ends the run on the spot and leaves a broker behind.
    signal.signal(signal.SIGTERM, lambda *_: pytest.exit("ended by TERM", returncode=143))


class TopicFactory(Protocol):
    """Creates a topic with a unique name and returns the name; the topic is deleted after the test."""

    def __call__(self, name: str = "topic", partitions: int = 1, config: Mapping[str, str] | None = None) -> str: ...


@pytest.fixture(scope="session")
def broker() -> Iterator[Broker]:
    """A running Kafka broker, one for the whole run; a test that stops a broker makes its own."""
    with Broker() as running:
        yield running


@pytest.fixture
def topic(broker: Broker) -> Iterator[TopicFactory]:
    """The factory of this test's topics."""
    created: list[str] = []

    def create(name: str = "topic", partitions: int = 1, config: Mapping[str, str] | None = None) -> str:
        unique = f"{name}-{uuid.uuid4().hex[:8]}"
        broker.create_topic(unique, partitions, config)
        created.append(unique)
        return unique

    yield create
    for name in created:
        broker.delete_topic(name)


@pytest.fixture
def goldens(request: pytest.FixtureRequest) -> Goldens:
    """Compares texts with golden files, or rewrites those under --update-goldens."""
    return Goldens(update=request.config.getoption("--update-goldens"))
