"""Cases of user-defined functions: the example of the guide, and what classes return and throw.

They run in a process of their own, whose JVM has the jar on its class path.
"""

import os
import re
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

from devkit.java_compiler import build_jar

GUIDE = Path(__file__).parents[1] / "docs/guides/user-defined-functions.md"
BLOCK = re.compile(r"^```(java|yaml)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_DEADLINE_S = 200

THROWING = """
package com.example;

import org.apache.spark.sql.api.java.UDF1;

public class Throwing implements UDF1<String, String> {
    @Override
    public String call(String kind) throws Exception {
        switch (kind) {
            case "exception": throw new IllegalArgumentException("a bad value");
            case "interrupted": throw new InterruptedException();
            case "flag": Thread.currentThread().interrupt(); return kind;
            case "endless": return call(kind);
            case "missing": return Library.name();
            case "null": return null;
            default: return kind;
        }
    }
}
"""

ECHO = """
package com.example;

import java.util.*;
import org.apache.spark.sql.*;
import org.apache.spark.sql.api.java.UDF5;

public class Echo
        implements UDF5<List<Integer>, Map<String, Long>, Row, java.time.LocalDate, java.math.BigDecimal, Row> {
    @Override
    public Row call(List<Integer> marks, Map<String, Long> counts, Row place, java.time.LocalDate day,
            java.math.BigDecimal price) {
        List<Integer> reversed = new ArrayList<>(marks);
        Collections.reverse(reversed);
        return RowFactory.create(reversed, counts, place, day.plusDays(1), price == null ? null : price.negate());
    }
}
"""

UNBUILDABLE = """
package com.example;

import org.apache.spark.sql.api.java.UDF1;

public class Unbuildable implements UDF1<String, String> {
    public Unbuildable() { throw new IllegalStateException("no licence"); }
    @Override
    public String call(String kind) { return kind; }
}
"""

FUNCTIONS = """
UNBUILDABLE: {class: com.example.Unbuildable, arguments: {kind: string}, result: string}
THROWING: {class: com.example.Throwing, arguments: {kind: string not null}, result: string not null}
Echo:
  class: com.example.Echo
  arguments:
    marks: array<int>
    counts: map<string, long>
    place: {name: string, height: int}
    day: date
    price: decimal(10,2)
  result:
    marks: array<int>
    counts: map<string, long>
    place: {name: string, height: int}
    day: date
    price: decimal(10,2)
"""

TOPIC = "topics: {t: {value: {format: JSON, schema: {kind: string not null, n: long not null}}}, o: {}, d: {}}\n"

CASES = {
    "stops at the record": """
sql: INSERT INTO o SELECT STREAM THROWING(kind) AS kind FROM t
input:
  - {topic: t, value: {kind: fine, n: 1}}
  - {topic: t, value: {kind: exception, n: 2}}
expect_error: {code: RECORD_REFUSED, topic: t, partition: 0, offset: 1}
""",
    "reports the function": """
sql: INSERT INTO o SELECT STREAM THROWING(kind) AS kind FROM t
input: [{topic: t, value: {kind: exception, n: 2}}]
expect: []
""",
    "reports an endless recursion": """
sql: INSERT INTO o SELECT STREAM THROWING(kind) AS kind FROM t
input: [{topic: t, value: {kind: endless, n: 2}}]
expect: []
""",
    "reports a result that must not be null": """
sql: INSERT INTO o SELECT STREAM THROWING(kind) AS kind FROM t
input: [{topic: t, value: {kind: 'null', n: 2}}]
expect: []
""",
    "skips records": """
sql: SET error.policy='continue'; INSERT INTO o SELECT STREAM THROWING(kind) AS kind FROM t
input:
  - {topic: t, value: {kind: exception, n: 1}}
  - {topic: t, value: {kind: flag, n: 2}}
  - {topic: t, value: {kind: interrupted, n: 3}}
  - {topic: t, value: {kind: endless, n: 4}}
  - {topic: t, value: {kind: 'null', n: 5}}
  - batch:
  - {topic: t, value: {kind: fine, n: 6}}
expect:
  - {topic: o, value: {kind: flag}}
  - {topic: o, value: {kind: fine}}
""",
    "stops under every policy if a library is missing": """
sql: |
  SET error.policy='dlq'; SET dead.letter.queue='d';
  INSERT INTO o SELECT STREAM THROWING(kind) AS kind FROM t
input: [{topic: t, value: {kind: missing, n: 1}}]
expect_error: {code: FUNCTION_UNUSABLE}
""",
    "stops if a library is missing": """
sql: INSERT INTO o SELECT STREAM THROWING(kind) AS kind FROM t
input: [{topic: t, value: {kind: missing, n: 1}}]
expect_error: {code: FUNCTION_UNUSABLE}
""",
    "stops if an object cannot be created": """
sql: INSERT INTO o SELECT STREAM UNBUILDABLE(kind) AS kind FROM t
input: [{topic: t, value: {kind: fine, n: 1}}]
expect_error: {code: FUNCTION_UNUSABLE}
""",
    "reports an object that cannot be created": """
sql: |
  SET error.policy='continue';
  INSERT INTO o SELECT STREAM UNBUILDABLE(kind) AS kind, COUNT(*) AS n FROM t GROUP BY UNBUILDABLE(kind)
input: [{topic: t, value: {kind: fine, n: 1}}]
expect: []
""",
    "counts what a function returns": """
sql: |
  INSERT INTO o SELECT STREAM THROWING(kind) AS kind, SUM(n) AS total FROM t GROUP BY THROWING(kind)
input:
  - {topic: t, value: {kind: a, n: 1}}
  - {topic: t, value: {kind: a, n: 2}}
expect: [{topic: o, key: a, value: {kind: a, total: 3}}]
""",
    "writes dead letters of an aggregate": """
sql: |
  SET error.policy='dlq'; SET dead.letter.queue='d';
  INSERT INTO o SELECT STREAM THROWING(kind) AS kind, SUM(n) AS total FROM t GROUP BY THROWING(kind)
input:
  - {topic: t, value: {kind: a, n: 1}}
  - {topic: t, value_text: '{"kind":"exception","n":2}'}
expect:
  - {topic: o, key: a, value: {kind: a, total: 1}}
  - topic: d
    value_text: '{"kind":"exception","n":2}'
    headers:
      lsql.error.topic: t
      lsql.error.partition: "0"
      lsql.error.offset: "1"
      lsql.error.code: RECORD_REFUSED
      lsql.error.message: >-
        LSQL_FUNCTION_FAILED: the function THROWING throws IllegalArgumentException: a bad value (Throwing.java:10)
""",
    "is not called for null in the legacy dialect": """
sql: SET autocreate=true; INSERT INTO o SELECT STREAM THROWING(kind) AS kind, n FROM t
topics: {t: {value: {format: JSON, schema: {kind: string, n: long}}}, o: {}}
input: [{topic: t, value: {kind: null, n: 1}}]
expect: [{topic: o, value: {kind: null, n: 1}}]
""",
    "passes nested values": """
sql: INSERT INTO o SELECT STREAM echo(marks, counts, place, day, price) AS _value FROM t
topics:
  t:
    value:
      format: JSON
      schema:
        marks: array<int>
        counts: map<string, long>
        place: {name: string, height: int}
        day: date
        price: decimal(10,2)
input:
  - topic: t
    value: {marks: [1, null, 3], counts: {a: 1}, place: {name: x, height: null}, day: '2026-02-28', price: 1.25}
  - topic: t
    value: {marks: [], counts: {}, place: {name: null, height: 2}, day: '1969-12-31', price: null}
expect:
  - topic: o
    value: {marks: [3, null, 1], counts: {a: 1}, place: {name: x, height: null}, day: '2026-03-01', price: -1.25}
  - topic: o
    value: {marks: [], counts: {}, place: {name: null, height: 2}, day: '1970-01-01', price: null}
""",
}

FAILING = {
    "reports the function": "the function THROWING throws IllegalArgumentException: a bad value (Throwing.java:10)",
    "reports an endless recursion": "the function THROWING throws StackOverflowError (Throwing.java:",
    "reports an object that cannot be created": (
        "FUNCTION_UNUSABLE: A user-defined function cannot run: the function UNBUILDABLE of the class "
        "com.example.Unbuildable: IllegalStateException: no licence (Unbuildable.java:7)."
    ),
    "reports a result that must not be null": "the function THROWING returns null, and its result is declared as not",
}
"""Cases that end with an error, of which the report has the text."""

Reports = dict[str, str | None]


PASSING = ("the example of the guide", *(name for name in CASES if name not in FAILING))


def run_cases(folder: Path, *options: str, names: Collection[str] = CASES) -> Reports:
    """Run cases and the example of the guide with `lsql test`. By name of a case: the differences; None if it passed.

    Args:
        folder: is filled with the cases and the functions.
        options: of the command.
        names: of the cases.
    """
    java, declared, guide_case = (text for _, text in BLOCK.findall(GUIDE.read_text())[:3])
    library = "package com.example; public class Library { public static String name() { return null; } }"
    sources = {"DistanceKm": java, "Throwing": THROWING, "Echo": ECHO, "Unbuildable": UNBUILDABLE, "Library": library}
    jar = folder / "functions.jar"
    build_jar({f"com/example/{name}.java": text for name, text in sources.items()}, jar)
    _remove(jar, "com/example/Library.class")
    (folder / "functions.yaml").write_text(declared + FUNCTIONS)
    (folder / "guide.case.yaml").write_text(f"name: the example of the guide\n{guide_case}")
    for number, name in enumerate(names):
        text = CASES[name]
        topics = "" if "topics:" in text else TOPIC
        (folder / f"{number}.case.yaml").write_text(f"name: {name}\n{topics}{text}")
    report = folder / "report.xml"
    command = [str(Path(sys.executable).with_name("lsql")), "test", str(folder), "--junit", str(report), *options]
    environment = os.environ | {"LSQL_UDF_DIR": str(folder)}
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=_DEADLINE_S)
    assert report.exists(), done.stdout + done.stderr
    return {
        case.attrib["name"]: None if (failure := case.find("failure")) is None else "".join(failure.itertext())
        for case in ElementTree.parse(report).iter("testcase")
    }


def _remove(jar: Path, entry: str) -> None:
    with ZipFile(jar) as archive:
        kept = {name: archive.read(name) for name in archive.namelist() if name != entry}
    with ZipFile(jar, "w") as archive:
        for name, content in kept.items():
            archive.writestr(name, content)
