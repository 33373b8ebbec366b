"""What the tests of the image share: its name, its inside, a broker with records, a processor in a container."""

import http.client
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pytest

from ci.tools.image import default_tag
from devkit.container import Container, built_image, image_root
from devkit.process import free_port

POLL_S = 0.05
DEADLINE_S = 180


@dataclass
class Contained:
    """A processor in a container."""

    container: Container
    port: int

    def get(self, path: str) -> tuple[int, Any]:
        """Status and JSON of an answer of the API; OSError before there is one."""
        return _get(self.port, path)

    def wait_for(self, predicate: Callable[[dict[str, Any]], bool], what: str) -> dict[str, Any]:
        """The first /stream that the predicate accepts; AssertionError, with what it wrote, if none does."""
        deadline = time.monotonic() + DEADLINE_S
        while True:
            status, stream = self.get("/stream")
            assert status == 200, f"{stream}\n{self.container.output()}"
            if predicate(stream):
                return dict(stream)
            assert time.monotonic() < deadline, f"no {what} within {DEADLINE_S} s: {stream}\n{self.container.output()}"
            time.sleep(POLL_S)


@dataclass(frozen=True)
class Wanted:
    """How a processor is to be contained; `env` is added to SQL, brokers and port.

    One that `may_die_early` counts as started when its process is.
    """

    sql: str
    bootstrap: str
    cpus: float = 2.0
    memory_mib: int = 768
    state: Path | None = None
    env: dict[str, str] = field(default_factory=dict)
    may_die_early: bool = False


class Containing(Protocol):
    def __call__(self, wanted: Wanted) -> Any: ...


@pytest.fixture(scope="session")
def image() -> str:
    """The name of the image that `make image` has built."""
    return built_image(default_tag())


@pytest.fixture(scope="session")
def root(image: str) -> Iterator[Path]:
    """The image's files."""
    with image_root(image) as mounted:
        yield mounted


@pytest.fixture(scope="session")
def inspected(image: str) -> dict[str, Any]:
    """What podman knows of the image."""
    told = subprocess.run(["podman", "image", "inspect", image], check=True, capture_output=True, text=True)
    return dict(json.loads(told.stdout)[0])


@pytest.fixture
def contained(image: str) -> Containing:
    """Runs processors in containers."""

    @contextmanager
    def run(wanted: Wanted) -> Iterator[Contained]:
        port = free_port()
        variables = {
            "SQL": wanted.sql,
            "SQL_BOOTSTRAP_SERVERS": wanted.bootstrap,
            "SQL_PORT": str(port),
            "SQL_METRIC_FREQUENCY": "500",
        }
        container = Container(
            image,
            probe=lambda: wanted.may_die_early or _get(port, "/health/live")[0] == 200,
            env=variables | wanted.env,
            cpus=wanted.cpus,
            memory_mib=wanted.memory_mib,
            state=wanted.state,
        )
        with container:
            yield Contained(container, port)

    return run


def _get(port: int, path: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    except http.client.HTTPException as error:
        raise ConnectionError(repr(error)) from error
    finally:
        connection.close()
