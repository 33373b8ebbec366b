"""A real schema registry for tests: Apicurio, one process, which speaks Confluent's API."""

from __future__ import annotations

import json
import os
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from ci.tools.ports import free_port
from devkit.jars import jar_folder
from devkit.process import Process

CONFLUENT_API = "/apis/ccompat/v7"
AVRO = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'
JSON_SCHEMA = '{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"id": {"type": "integer"}}}'
PROTOBUF = 'syntax = "proto3"; message Order { int64 id = 1; }'


class Registry:
    """A registry on a random port of 127.0.0.1; ready within a few seconds.

    `stop` (or `kill`) and `start` keep the port, and the schemas with their ids.
    """

    def __init__(self) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}{CONFLUENT_API}"
        home = os.environ.get("JAVA_HOME")
        [jar] = jar_folder("registry").glob("*-runner.jar")
        self.process = Process(
            [
                Path(home) / "bin/java" if home else "java",
                *("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx192m", "-Djava.io.tmpdir=."),
                *("-Dquarkus.http.host=127.0.0.1", f"-Dquarkus.http.port={port}", "-Dquarkus.log.level=WARN"),
                # Made to keep all in memory; with a file in its place a registry that was killed starts as it was.
                "-Dquarkus.datasource.jdbc.url=jdbc:h2:file:./registry;WRITE_DELAY=0",
                *("-jar", jar),
            ],
            name="registry",
            probe=lambda: self.ask("GET", "/subjects") is not None,
            deadline_s=60,
        )

    def start(self) -> Self:
        """Starts the registry, again on the same port; returns when it answers."""
        self.process.start()
        return self

    def stop(self) -> None:
        """Ends the registry in good order."""
        self.process.stop()

    def kill(self) -> None:
        """Ends the registry as a crash would."""
        self.process.kill()

    def pause(self) -> None:
        """Freezes the registry: it takes connections and answers nothing."""
        self.process.pause()

    def resume(self) -> None:
        """Lets a frozen registry go on."""
        self.process.resume()

    def register(self, subject: str, text: str = AVRO, kind: str = "AVRO") -> int:
        """Makes a schema (AVRO, JSON or PROTOBUF) a version of a subject; returns its id."""
        body = {"schema": text, "schemaType": kind}
        return int(self.ask("POST", f"/subjects/{quote(subject, safe='')}/versions", body)["id"])

    def versions(self, subject: str) -> list[int]:
        """The versions of a subject."""
        return list(self.ask("GET", f"/subjects/{quote(subject, safe='')}/versions"))

    def schema(self, schema_id: int) -> str:
        """The text behind an id."""
        return str(self.ask("GET", f"/schemas/ids/{schema_id}")["schema"])

    def set_compatibility(self, subject: str, level: str) -> None:
        """Sets a rule for new versions of a subject, as BACKWARD; where none is set everything is taken."""
        self.ask("PUT", f"/config/{quote(subject, safe='')}", {"compatibility": level})

    def delete(self, subject: str) -> None:
        """Deletes a subject as users do: it can be brought back."""
        self.ask("DELETE", f"/subjects/{quote(subject, safe='')}")

    def forget(self, subject: str) -> None:
        """Takes a subject away for good, once it is deleted."""
        self.ask("DELETE", f"/subjects/{quote(subject, safe='')}?permanent=true")

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """A request of Confluent's API; returns the answer's JSON. OSError where none comes or it is no success."""
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, content, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.loads(response.read())

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
