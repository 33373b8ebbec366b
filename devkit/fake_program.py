"""The program of the fake processor, with its topics, stores, topology and plan."""

from __future__ import annotations

from lsql_runner.events.processor import TopicUse
from lsql_runner.runtime.port import ProgramDescription, StoreInfo

SQL = """\
SET defaults.topic.autocreate=true;
SET grace='10s';

-- Parked vehicles are left out.
WITH moving AS (
  SELECT STREAM vehicle_id, speed
  FROM `vehicle-positions` EVENTTIME BY sent_at
  WHERE speed > 2.5
);

INSERT INTO `fast-vehicles` STORE KEY AS STRING VALUE AS AVRO
SELECT STREAM
  v.model,
  COUNT(*) AS readings,
  AVG(m.speed) AS mean_speed,
  MAX(m.speed) AS top_speed
FROM moving AS m
  INNER JOIN vehicles AS v ON m.vehicle_id = v._key
WINDOW BY TUMBLE 1m
GROUP BY m.vehicle_id, v.model
HAVING AVG(m.speed) > 27.8;  /* 100 km/h */
"""

WARNING = "SET grace was given as 10s: a record that is later than that is dropped and counted."

TOPICS = (
    TopicUse(
        topic="vehicle-positions",
        role="source",
        key_format="STRING",
        value_format="JSON",
        key_type="string",
        value_type="struct<vehicle_id: string, speed: double, heading: int, road: string, sent_at: timestamp>",
        schema_origin="pinned",
        partitions=6,
    ),
    TopicUse(
        topic="vehicles",
        role="source",
        key_format="STRING",
        value_format="AVRO",
        key_type="string",
        value_type="struct<model: string, year: int>",
        schema_origin="declared",
        partitions=3,
    ),
    TopicUse(
        topic="fast-vehicles",
        role="target",
        key_format="STRING",
        value_format="AVRO",
        key_type="string",
        value_type="struct<model: string, readings: long, mean_speed: double, top_speed: double>",
        schema_origin="program",
        partitions=6,
    ),
)

PLAN = """\
Sink fast-vehicles (key STRING, value AVRO)
  Filter mean_speed > 27.8
    Aggregate TUMBLE 1m, grace 10s, by vehicle_id, model
      Join INNER m.vehicle_id = v._key
        Filter speed > 2.5
          Source vehicle-positions (key STRING, value JSON)
        Table vehicles (key STRING, value AVRO)
"""


def _node(key: str, kind: str, label: str, detail: str) -> dict[str, str]:
    return {"id": key, "kind": kind, "label": label, "detail": detail}


DESCRIPTION = ProgramDescription(
    stores=(
        StoreInfo(
            "fast-vehicles-window",
            "fast-vehicles",
            "struct<vehicle_id: string, model: string>",
            "struct<readings: long, mean_speed: double, top_speed: double>",
        ),
        StoreInfo("vehicles-latest", "fast-vehicles", "string", "struct<model: string, year: int>"),
    ),
    topology={
        "nodes": [
            _node("n1", "topic", "vehicle-positions", "STRING key, JSON value"),
            _node("n2", "filter", "WHERE", "speed > 2.5"),
            _node("n3", "topic", "vehicles", "STRING key, AVRO value"),
            _node("n4", "join", "INNER JOIN", "m.vehicle_id = v._key"),
            _node("n5", "aggregate", "TUMBLE 1m", "by vehicle_id, model"),
            _node("n6", "filter", "HAVING", "mean_speed > 27.8"),
            _node("n7", "topic", "fast-vehicles", "STRING key, AVRO value"),
        ],
        "edges": [
            {"from": "n1", "to": "n2"},
            {"from": "n2", "to": "n4"},
            {"from": "n3", "to": "n4"},
            {"from": "n4", "to": "n5"},
            {"from": "n5", "to": "n6"},
            {"from": "n6", "to": "n7"},
        ],
    },
    plan=PLAN,
)
