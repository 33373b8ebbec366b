"""Runs topologies of Kafka Streams in a JVM, one after another (`Main` in `src`)."""

from __future__ import annotations

import base64
import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Thread
from types import TracebackType
from typing import Any

from devkit.jars import jar_folder, java_command

MAIN = "com.lsqlrunner.differential.Main"
QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"  # Kafka Streams logs a warning for each record that it skips


@dataclass(frozen=True, slots=True)
class InputRecord:
    """An input record of a topology."""

    topic: str
    key: str | None
    value: Mapping[str, Any] | None
    timestamp_ms: int


@dataclass(frozen=True, slots=True)
class OutputRecord:
    """An output record of a topology; `after` is the number of the input record that caused it, from 0."""

    after: int
    key: bytes | None
    value: Mapping[str, Any] | None
    timestamp_ms: int


class KafkaStreams:
    """A JVM that runs topologies. As a context manager, it kills the JVM at the end."""

    def __init__(self) -> None:
        self._errors = tempfile.TemporaryFile(mode="w+")  # noqa: SIM115 - closed with the process that writes to it
        self._process = subprocess.Popen(
            java_command(jar_folder("differential-jars"), MAIN, QUIET),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            encoding="utf-8",
        )

    def __enter__(self) -> KafkaStreams:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def run(self, topology: str, settings: Mapping[str, Any], records: Sequence[InputRecord]) -> list[OutputRecord]:
        """The output of a topology for records, each processed before the next.

        Raises:
            AssertionError: the topology failed, with the output of the JVM.
        """
        lines = [json.dumps({"topology": topology, "settings": dict(settings), "records": len(records)})]
        for record in records:
            shown = {"topic": record.topic, "key": record.key, "value": record.value, "timestamp": record.timestamp_ms}
            lines.append(json.dumps(shown))
        # In a thread, because a pipe is small and the JVM reads on only when its output is read.
        writing = Thread(target=self._write, args=("\n".join(lines) + "\n",))
        writing.start()
        answers = list(self._outputs())
        writing.join()
        return answers

    def _write(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(text)
        self._process.stdin.flush()

    def _outputs(self) -> Iterator[OutputRecord]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            document = json.loads(line)
            if "end" in document:
                return
            key = None if document["key"] is None else base64.b64decode(document["key"])
            yield OutputRecord(document["after"], key, document["value"], document["timestamp"])
        self._errors.seek(0)
        raise AssertionError(f"the JVM of Kafka Streams ended:\n{self._errors.read()}")
