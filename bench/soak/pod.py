"""lsql-runner in a container that survives its end, as in a pod, and what it uses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from bench.background import Background
from bench.expected import BenchFailed
from bench.soak.parts import mapped_mib, reported_mib
from bench.soak.verdict import PodSample
from bench.usage import descriptors, private_mib_of, threads
from devkit.container import MIB, Container

_REQUEST_S = 20
_POLL_S = 0.5
_PARTS_EVERY = 6
"""The processor measures its memory every 30 s, in six samples."""
_END_S = 90


class SoakPod:
    """A container, its REST API and its volumes."""

    def __init__(self, container: Container, port: int) -> None:
        self.container = container
        self._api = f"http://127.0.0.1:{port}"

    def post(self, path: str) -> None:
        """Send a POST request to the API.

        Raises:
            BenchFailed: it is refused, or not answered.
        """
        try:
            with urlopen(Request(self._api + path, method="POST"), timeout=_REQUEST_S):
                pass
        except (OSError, HTTPException) as error:
            raise BenchFailed(f"POST {path}: {error}") from error

    def state(self) -> str:
        """The state of the processor; empty while the API does not respond."""
        stream = self._stream()
        return str(stream["state"]) if stream else ""

    def position(self) -> int:
        """The number of records of the sources that the processor has read; 0 while the API does not respond."""
        stream = self._stream()
        return sum(place["position"] or 0 for place in stream["offsets"]) if stream else 0

    def reach(self, state: str, deadline_s: float) -> None:
        """Wait for a state of the processor.

        Raises:
            BenchFailed: it is not reached in time, or the container ends.
        """
        wait_for(lambda: self.state() == state, deadline_s, f"the processor is not {state}", self)

    def check(self) -> None:
        """Raises BenchFailed if the container has ended."""
        if not self.container.running:
            raise BenchFailed(f"the container ended with code {self.container.exit_code}")

    def kill_jvm(self) -> None:
        """Kill the JVM; the runner ends, and the container is started again, as a kubelet does."""
        os.kill(self._jvm(), signal.SIGKILL)
        self.container.wait(_END_S)
        self.container.start()

    def sample(self, at_s: float) -> PodSample | None:
        """What it uses now; None while it does not run."""
        try:
            pids = self.container.pids()
        except subprocess.CalledProcessError:
            return None
        if not pids:
            return None
        sizes = _file_sizes(self.container.folder / "state")
        return PodSample(
            at_s=at_s,
            private_mib=private_mib_of(pids),
            descriptors=descriptors(pids),
            threads=threads(pids),
            checkpoint_mib=sum(sizes) / MIB,
            checkpoint_files=len(sizes),
            temporary_mib=sum(_file_sizes(self.container.folder / "tmp")) / MIB,
        )

    def memory_parts(self) -> dict[str, float]:
        """The parts of its memory in MiB; those that are not known while it starts or ends are missing."""
        stream = self._stream()
        parts = reported_mib(stream) if stream else {}
        with suppress(OSError, subprocess.CalledProcessError, BenchFailed):
            parts |= mapped_mib(Path(f"/proc/{self._jvm()}/smaps").read_text(encoding="utf-8").splitlines())
        return parts

    def _stream(self) -> dict[str, Any] | None:
        """The answer to GET /stream; None while the API does not respond."""
        try:
            with urlopen(f"{self._api}/stream", timeout=_REQUEST_S) as answer:
                stream: dict[str, Any] = json.load(answer)
        except (OSError, HTTPException):
            return None
        return stream

    def _jvm(self) -> int:
        for pid in self.container.pids():
            with suppress(OSError):
                if Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() == "java":
                    return pid
        raise BenchFailed("the container has no JVM")


class Sampler(Background):
    """Takes a sample every few seconds within the block."""

    def __init__(self, pod: SoakPod, begin: float, every_s: float) -> None:
        super().__init__("sampler")
        self.samples: list[PodSample] = []
        self._pod, self._begin, self._every_s = pod, begin, every_s

    def _work(self) -> None:
        number = 0
        while not self._is_ended.wait(max(0.0, self._begin + number * self._every_s - time.monotonic())):
            sample = self._pod.sample(time.monotonic() - self._begin)
            if sample is not None:
                has_parts = number % _PARTS_EVERY == 0
                self.samples.append(replace(sample, parts=self._pod.memory_parts()) if has_parts else sample)
            number += 1


def wait_for(is_done: Callable[[], bool], deadline_s: float, failure: str, pod: SoakPod) -> None:
    """Wait for a condition.

    Raises:
        BenchFailed: the deadline has passed, or the container has ended.
    """
    deadline = time.monotonic() + deadline_s
    while not is_done():
        pod.check()
        if time.monotonic() > deadline:
            raise BenchFailed(f"{failure} after {deadline_s:.0f} s")
        time.sleep(_POLL_S)


def _file_sizes(folder: Path) -> list[int]:
    """The size in bytes of each file below a folder, whose files come and go."""
    sizes: list[int] = []
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                sizes.append(os.lstat(os.path.join(parent, name)).st_size)
    return sizes
