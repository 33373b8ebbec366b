"""A real schema registry for tests: Apicurio, one process, with Confluent's API."""

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
                # Apicurio keeps its data in memory by default; with a file a killed registry keeps its schemas.
                "-Dquarkus.datasource.jdbc.url=jdbc:h2:file:./registry;WRITE_DELAY=0",
                *("-jar", jar),
            ],
            name="registry",
            probe=lambda: self.request("GET", "/subjects") is not None,
            deadline_s=60,
        )

    def start(self) -> Self:
        """Start the registry, always on the same port; returns when it responds."""
        self.process.start()
        return self

    def stop(self) -> None:
        """End the registry gracefully."""
        self.process.stop()

    def kill(self) -> None:
        """Kill the registry, as a crash would."""
        self.process.kill()

    def pause(self) -> None:
        """Suspend the registry: it accepts connections but does not respond."""
        self.process.pause()

    def resume(self) -> None:
        """Continue a paused registry."""
        self.process.resume()

    def register(self, subject: str, text: str = AVRO, kind: str = "AVRO") -> int:
        """Register a schema (AVRO, JSON or PROTOBUF) as a version of a subject; returns its id."""
        body = {"schema": text, "schemaType": kind}
        return int(self.request("POST", f"/subjects/{quote(subject, safe='')}/versions", body)["id"])

    def versions(self, subject: str) -> list[int]:
        """The versions of a subject."""
        return list(self.request("GET", f"/subjects/{quote(subject, safe='')}/versions"))

    def schema(self, schema_id: int) -> str:
        """The text of the schema with this id."""
        return str(self.request("GET", f"/schemas/ids/{schema_id}")["schema"])

    def set_compatibility(self, subject: str, level: str) -> None:
        """Set the compatibility rule of a subject, such as BACKWARD; without a rule every version is accepted."""
        self.request("PUT", f"/config/{quote(subject, safe='')}", {"compatibility": level})

    def delete(self, subject: str) -> None:
        """Delete a subject softly, as users do: it can be restored."""
        self.request("DELETE", f"/subjects/{quote(subject, safe='')}")

    def delete_permanently(self, subject: str) -> None:
        """Delete a subject permanently, after a soft delete."""
        self.request("DELETE", f"/subjects/{quote(subject, safe='')}?permanent=true")

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request of Confluent's API; returns the JSON of the response. Raises OSError if there is no
        response, or its status is an error.
        """
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
