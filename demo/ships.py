"""Simulates ships that report their positions."""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass
from random import Random
from threading import Event, Thread

from confluent_kafka import Producer

TOPIC = "iot_data"
REPORTS_PER_S = 500
SHIPS = 400
TICK_S = 0.1
KNOTS_TO_DEGREES_PER_S = 1 / 3600 / 60
"""A knot is a nautical mile per hour, and a nautical mile is a minute of latitude."""

LANES = ((51.0, 1.6, 40.0), (36.0, -5.4, 75.0), (54.6, 10.9, 60.0), (43.1, 5.2, 130.0), (37.9, 23.5, 160.0))
"""Latitude, longitude and course of five shipping lanes."""


@dataclass(slots=True, kw_only=True)
class Ship:
    """A simulated ship. Position and course are in degrees, speeds in knots."""

    mmsi: int
    latitude: float
    longitude: float
    course: float
    speed: float
    cruising_speed: float
    reported_at_s: float

    def sail(self, now_s: float, random: Random) -> None:
        """Move the ship to `now_s`. Its speed varies around its usual speed; a moored ship does not move."""
        elapsed_s, self.reported_at_s = now_s - self.reported_at_s, now_s
        if self.cruising_speed < 1:
            self.speed = abs(random.gauss(0, 0.05))
        else:
            self.speed = max(0.0, self.speed + 0.2 * (self.cruising_speed - self.speed) + random.gauss(0, 0.3))
        self.course = (self.course + random.gauss(0, 0.8)) % 360
        distance = self.speed * elapsed_s * KNOTS_TO_DEGREES_PER_S
        self.latitude += distance * math.cos(math.radians(self.course))
        self.longitude += (
            distance * math.sin(math.radians(self.course)) / max(0.1, math.cos(math.radians(self.latitude)))
        )

    def report(self, at_ms: int) -> bytes:
        """The position report as JSON."""
        return json.dumps(
            {
                "MMSI": self.mmsi,
                "Speed": round(self.speed, 1),
                "Longitude": round(self.longitude, 5),
                "Latitude": round(self.latitude, 5),
                "Timestamp": at_ms,
            }
        ).encode()


def fleet(random: Random, now_s: float) -> list[Ship]:
    """The ships: a sixth is in port, the others cruise at 4 to 22 knots."""
    ships = []
    for number in range(SHIPS):
        latitude, longitude, course = LANES[number % len(LANES)]
        cruising_speed = 0.0 if number % 6 == 0 else random.uniform(4, 22)
        ships.append(
            Ship(
                mmsi=200_000_000 + random.randrange(99_999_999),
                latitude=latitude + random.uniform(-0.4, 0.4),
                longitude=longitude + random.uniform(-0.6, 0.6),
                course=course + random.choice((0, 180)),
                speed=cruising_speed,
                cruising_speed=cruising_speed,
                reported_at_s=now_s,
            )
        )
    return ships


class Ships:
    """Produces position reports at a constant rate in a thread, until `stop`."""

    def __init__(self, bootstrap: str) -> None:
        self._random = Random(1)
        self._ships = fleet(self._random, time.time())
        self._next = 0
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "partitioner": "murmur2_random",  # choose partitions as Java clients do
                "compression.type": "lz4",
                "linger.ms": 20,
                "log_level": 0,
            }
        )
        self._ended = Event()
        self._thread = Thread(target=self._sail, name="ships", daemon=True)

    def start(self) -> None:
        """Send a first round, so that a schema can be inferred, and continue in the background."""
        self._report(SHIPS)
        self._producer.flush(10)
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(5)
        self._producer.purge()

    def _sail(self) -> None:
        begun_s, sent = time.monotonic(), 0
        while not self._ended.wait(TICK_S):
            due = int((time.monotonic() - begun_s) * REPORTS_PER_S) - sent
            self._report(min(due, REPORTS_PER_S))
            sent += due

    def _report(self, count: int) -> None:
        for _ in range(count):
            ship = self._ships[self._next % SHIPS]
            self._next += 1
            now_s = time.time()
            ship.sail(now_s, self._random)
            try:
                self._producer.produce(TOPIC, key=str(ship.mmsi), value=ship.report(round(now_s * 1000)))
            except BufferError:
                break  # the broker is behind; a lost report does not matter, because the ship reports again
        self._producer.poll(0)
