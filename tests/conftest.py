"""Fixtures of all layers."""

import signal
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

import hypothesis
import pytest
from xdist.remote import Producer  # type: ignore[import-untyped]
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from devkit.broker import Broker
from devkit.goldens import Goldens
from tests.thorough import THOROUGH

# A busy machine needs longer than the 200 ms that hypothesis allows for an example; pytest-timeout limits the test.
hypothesis.settings.register_profile("lsql", deadline=None)
hypothesis.settings.load_profile("lsql")

ONE_PROCESS = {
    "tests/differential/test_differential.py",
    "tests/kafka/test_key_stores.py",
    "tests/kafka/test_lsql_test.py",
    "tests/kafka/test_refusals.py",
    "tests/kafka/test_run_stateless.py",
    "tests/kafka/test_security.py",
    "tests/kerberos/test_kerberos.py",
    "tests/streams/test_aggregate_examples.py",
    "tests/streams/test_function_examples.py",
    "tests/streams/test_user_functions.py",
}
"""Files whose tests run in one process, because they share a server or a long computation."""


LONG_FIRST = {"differential", "kafka", "streams"}
"""Folders whose tests differ so much that one process would run a long one at the end, while the others have ended."""


def file_of(nodeid: str) -> str:
    """The file of a test, from the root of the checkout."""
    return nodeid.partition("::")[0]


class FileGroupScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Sends all tests of a file in ONE_PROCESS to one process, and every other test to the next free one.

    The marker xdist_group has no effect with pytest 9.2: pytest-xdist 3.8 changes an attribute that is no longer read.
    """

    def _split_scope(self, nodeid: str) -> str:
        return file_of(nodeid) if file_of(nodeid) in ONE_PROCESS else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling | None:
    return FileGroupScheduling(config, log) if config.getvalue("dist") == "loadgroup" else None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="rewrite the golden files")


def pytest_configure() -> None:
    # Otherwise SIGTERM would end the run at once and leave a broker behind.
    signal.signal(signal.SIGTERM, lambda *_: pytest.exit("ended by TERM", returncode=143))
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:  # under nohup, or in the background
            # A handler, unlike SIG_IGN, is not inherited: programs that tests start have the default, as from a shell.
            signal.signal(number, lambda *_: None)


def order(item: pytest.Item) -> tuple[str, bool, float]:
    """The tests of LONG_FIRST by folder: ONE_PROCESS, then by timeout, the longest first; others as they are."""
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    if folder not in LONG_FIRST:
        return "", False, 0
    marker = item.get_closest_marker("timeout")
    return folder, file_of(item.nodeid) not in ONE_PROCESS, -marker.args[0] if marker else 0


@pytest.hookimpl(tryfirst=True)  # before other hooks order or deselect what is left
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not THOROUGH:
        left_out = {item for item in items if item.get_closest_marker("thorough")}
        config.hook.pytest_deselected(items=[*left_out])
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=order)


class TopicFactory(Protocol):
    """Creates a topic with a unique name and returns the name; the topic is deleted after the test."""

    def __call__(self, name: str = "topic", partitions: int = 1, config: Mapping[str, str] | None = None) -> str: ...


@pytest.fixture(scope="session")
def broker() -> Iterator[Broker]:
    """A running Kafka broker, one for each pytest process; a test that stops its broker starts another one."""
    with Broker() as running:
        yield running


@pytest.fixture
def topic(broker: Broker) -> Iterator[TopicFactory]:
    """Creates topics for this test."""
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
