"""Fixtures of the image tests: the name of the image, its files, and processors in containers."""

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

from ci.tools.image import default_tag, image_root
from ci.tools.ports import free_port
from devkit.container import Container, built_image

POLL_S = 0.05
DEADLINE_S = 180


@dataclass
class ContainedProcessor:
    """A processor in a container."""

    container: Container
    port: int

    def get(self, path: str) -> tuple[int, Any]:
        """Status and JSON of a response of the API. OSError while there is none."""
        return _get(self.port, path)

    def wait_for(self, predicate: Callable[[dict[str, Any]], bool], condition: str) -> dict[str, Any]:
        """The first /stream that the predicate accepts. AssertionError, with the output, after the deadline."""
        deadline = time.monotonic() + DEADLINE_S
        while True:
            status, stream = self.get("/stream")
            assert status == 200, f"{stream}\n{self.container.output()}"
            if predicate(stream):
                return dict(stream)
            assert time.monotonic() < deadline, (
                f"no {condition} within {DEADLINE_S} s: {stream}\n{self.container.output()}"
            )
            time.sleep(POLL_S)


@dataclass(frozen=True)
class ProcessorOptions:
    """The program, limits and environment of a processor; SQL, brokers and port are added to `env`.

    A processor that `may_die_early` counts as started when its process runs.
    """

    sql: str
    bootstrap: str
    cpus: float = 2.0
    memory_mib: int = 768
    state: Path | None = None
    env: dict[str, str] = field(default_factory=dict)
    may_die_early: bool = False


class RunProcessor(Protocol):
    """Runs a processor in a container within a block."""

    def __call__(self, options: ProcessorOptions) -> Any: ...


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
def image_metadata(image: str) -> dict[str, Any]:
    """The output of `podman image inspect`."""
    result = subprocess.run(["podman", "image", "inspect", image], check=True, capture_output=True, text=True)
    return dict(json.loads(result.stdout)[0])


@pytest.fixture
def run_processor(image: str) -> RunProcessor:
    """Runs processors in containers."""

    @contextmanager
    def run(options: ProcessorOptions) -> Iterator[ContainedProcessor]:
        port = free_port()
        variables = {
            "SQL": options.sql,
            "SQL_BOOTSTRAP_SERVERS": options.bootstrap,
            "SQL_PORT": str(port),
            "SQL_METRIC_FREQUENCY": "500",
        }
        container = Container(
            image,
            probe=lambda: options.may_die_early or _get(port, "/health/live")[0] == 200,
            env=variables | options.env,
            cpus=options.cpus,
            memory_mib=options.memory_mib,
            state=options.state,
        )
        with container:
            yield ContainedProcessor(container, port)

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
