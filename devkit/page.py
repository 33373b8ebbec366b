"""What the processor's page must show for given responses of the API. It is written independently of the page's code.

`expected` is computed from the responses of GET /stream and GET /metadata; `shown` reads the page in a browser. They
are equal if tiles, panels and head show exactly the values of the responses.
"""

from __future__ import annotations

from datetime import datetime
from math import floor
from typing import Any

from playwright.sync_api import Page

Json = dict[str, Any]
PageValues = dict[str, Any]
"""The texts of the page by the name of their element; `facts` and `memory facts` are lists of names and values."""
UNKNOWN = "not known yet"
NONE = "–"  # noqa: RUF001  # as the page writes it

MEMORY_PARTS = {
    "heap": "Heap",
    "state_stores": "State stores",
    "code_cache": "Compiled code",
    "jvm": "Rest of the JVM",
    "python": "Python",
    "reserve": "Kernel",
}

READ = """() => {
  // A browser puts an empty line between paragraphs, which is layout and not text.
  const text = (element) => element.innerText.trim().replace(/\\n{2,}/g, "\\n");
  const id = (name) => document.getElementById(name);
  const rows = (name) => [...id(name).tBodies[0].rows].map((row) => [...row.cells].map(text));
  const facts = (name) => Object.fromEntries([...id(name).children]
    .filter((fact) => fact.checkVisibility()).map((fact) => [...fact.children].map(text)));
  return {
    "app": text(id("app-id")),
    "subtitle": text(id("subtitle")),
    "state": text(id("state")),
    "since": text(id("since")),
    "version": text(id("version")),
    "program": id("sql").textContent.trimEnd(),
    "reason": id("reason").hidden ? "" : text(id("reason")),
    "tiles": Object.fromEntries([...document.querySelectorAll("#tiles .tile")].map((tile) => [
      text(tile.querySelector("h2")),
      [text(tile.querySelector(".figure")), text(tile.querySelector(".foot-line"))],
    ])),
    "offsets": rows("offsets"),
    "offsets note": text(id("offsets-note")),
    "topics": rows("topics"),
    "stores": rows("stores"),
    "facts": facts("facts"),
    "memory": rows("memory"),
    "memory note": text(id("memory-note")),
    "memory facts": facts("memory-facts"),
    "notes": text(id("notes")),
  };
}"""


def shown(page: Page) -> PageValues:
    """The values that the page shows now."""
    values: PageValues = page.evaluate(READ)
    return values


def expected(stream: Json, stores: list[Json]) -> PageValues:
    """The values that the page must show."""
    retry = stream["nextRestartAt"]
    again = f", next try in {_duration(_seconds(stream['at'], retry))}" if retry else ""
    words = [f"Consumer group {stream['consumerGroupId']}"]
    words += [f"by {stream['username']}"] if stream["username"] else []
    return {
        "app": stream["appId"],
        "subtitle": "  ·  ".join([*words, _guarantee(stream)]),
        "state": stream["state"],
        "since": f"for {_duration(_seconds(stream['since'], stream['at']))}{again}",
        "version": f"lsql-runner {stream['version']}",
        "program": stream["sql"].rstrip(),
        "reason": _reason(stream),
        "tiles": _tiles(stream),
        "offsets": [
            [o["topic"], *(_count(o[name]) for name in ("partition", "position", "end", "lag"))]
            for o in stream["offsets"]
        ],
        "offsets note": f"lag {_count(stream['lag'])} in total" if stream["offsets"] else UNKNOWN,
        "topics": [_topic(topic) for topic in stream["topics"]],
        "stores": [
            [s["name"], f"{s['keySchema']} → {s['valueSchema']}", _count(s["rows"]), _bytes(s["bytes"])] for s in stores
        ],
        "facts": _facts(stream),
        "memory": [
            [MEMORY_PARTS[part["part"]], _mebibytes(part["usedBytes"]), _mebibytes(part["budgetBytes"])]
            for part in stream["memory"]["parts"]
        ],
        "memory note": _memory_note(stream["memory"]),
        "memory facts": _memory_facts(stream["memory"]),
        "notes": _notes(stream),
    }


def _tiles(stream: Json) -> dict[str, list[str]]:
    rates, last = stream["rates"], stream["lastBatch"]
    behind = [o for o in stream["offsets"] if o["lag"]]
    lag_known = any(o["lag"] is not None for o in stream["offsets"])
    over = f"over {_plural(len(behind), 'partition')}" if stream["lag"] else "caught up"
    unit = "record" if stream["lag"] == 1 else "records"
    unknown = [NONE, UNKNOWN]
    return {
        "Records in": [f"{_figure(rates['recordsInPerSecond'])}/s", f"{_count(stream['recordsIn'])} since start"],
        "Records out": [f"{_figure(rates['recordsOutPerSecond'])}/s", f"{_count(stream['recordsOut'])} since start"],
        "Lag": [f"{_figure(stream['lag'])}{unit}", over] if lag_known else unknown,
        "Batch": [_milliseconds(last["durationMs"]), _batches(stream)] if last else unknown,
    }


def _batches(stream: Json) -> str:
    seconds = _seconds(stream["lastBatch"]["endedAt"], stream["at"])
    ago = "just now" if seconds < 1 else f"{_duration(seconds)} ago"
    return f"{_count(stream['batches'])} since start, last {ago}"


def _processing(stream: Json) -> str:
    if not stream["continuous"]:
        return "in batches"
    return "record by record; with state in batches" if stream["stateful"] else "record by record"


def _facts(stream: Json) -> dict[str, str]:
    watermark = stream["watermark"]
    behind = f"{_duration(_seconds(watermark, stream['at']))} behind ({_moment(watermark)[11:]})" if watermark else NONE
    kept = f"generation {_count(stream['generation'])}" if stream["stateful"] else "none kept"
    return {
        "Started": _moment(stream["startedAt"]),
        "Delivery": _guarantee(stream),
        "Processing": _processing(stream),
        "Watermark": behind,
        "Late records dropped": _count(stream["lateRecordsDropped"]),
        "Restarts": _count(stream["restarts"]),
        "State": kept if stream["stateful"] or stream["topics"] else NONE,
        "Runners": _count(stream["runners"]),
        **({} if stream["workers"] is None else {"Workers": _workers(stream)}),
    }


def _workers(stream: Json) -> str:
    scaling, words = stream["scaling"], [_count(len(stream["workers"]))]
    if scaling:
        wanted = scaling["wanted"]
        words += ["wanted number not known" if wanted is None else f"{_count(wanted)} wanted"]
        words += ["dry run"] if scaling["dryRun"] else []
    return ", ".join(words)


def _reason(stream: Json) -> str:
    reason = stream["reason"]
    reason_shown = reason["message"] if reason else None
    lines = _error(reason) if reason else []
    lines += [f"{r['code']} {r['text']}" for r in stream["health"]["reasons"] if r["text"] != reason_shown]
    return "\n".join(lines)


def _notes(stream: Json) -> str:
    last = stream["lastError"]
    lines = [*stream["warnings"], *([_moment(last["at"]), *_error(last)] if last else [])]
    return "\n".join(lines) or "None."


def _error(error: Json) -> list[str]:
    place = error["position"]
    at = f" Line {place['line']}, column {place['column']}." if place else ""
    return [error["message"] + at, f"{error['wayOut']} {error['code']}"]


def _topic(topic: Json) -> list[str]:
    partitions = topic["partitions"]
    origin = [topic["schemaOrigin"], *([_plural(partitions, "partition")] if partitions is not None else [])]
    key = f"{topic['keyFormat']}\n{topic['keyType']}"
    value = f"{topic['valueFormat']}\n{topic['valueType']}"
    return [topic["topic"], topic["role"], key, value, "\n".join(origin)]


def _memory_note(memory: Json) -> str:
    if memory["measuredAt"] is None:
        return UNKNOWN
    limit = memory["limitBytes"]
    private = _mebibytes(memory["privateBytes"])
    return f"{private}, no limit" if limit is None else f"{private} of {_mebibytes(limit)}"


def _memory_facts(memory: Json) -> dict[str, str]:
    return {
        "Heap committed": _mebibytes(memory["heapCommittedBytes"]),
        "Classes": _mebibytes(memory["metaspaceBytes"]),
        "Network buffers": _mebibytes(memory["directBuffersBytes"]),
        "Threads of the JVM": _count(memory["threads"]),
    }


def _guarantee(stream: Json) -> str:
    return str(stream["deliveryGuarantee"]).replace("_", " ")


def _count(number: int | None) -> str:
    return NONE if number is None else f"{number:,}"


def _plural(number: int, one: str) -> str:
    return f"{_count(number)} {one}{'' if number == 1 else 's'}"


def _round(number: float, digits: int = 0) -> str:
    """Rounds half away from zero, as the browser does; a zero decimal is left out."""
    shown = floor(number * 10**digits + 0.5) / 10**digits
    return f"{shown:,.{digits}f}".removesuffix(".0")


def _figure(number: float) -> str:
    if number >= 1_000_000:
        return f"{_round(number / 1_000_000, 1)}M"
    return _round(number, 1 if number < 10 else 0)


def _bytes(number: int | None) -> str:
    if number is None:
        return NONE
    value, units = float(number), ["B", "kB", "MB", "GB", "TB"]
    while value >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{_round(value, 1 if value < 100 and units[0] != 'B' else 0)} {units[0]}"


def _mebibytes(number: int | None) -> str:
    return NONE if number is None else f"{_round(number / 2**20)} MiB"


def _milliseconds(number: int) -> str:
    if number < 1000:
        return f"{number}ms"
    return f"{_round(number / 1000, 1)}s" if number < 120_000 else f"{_round(number / 60_000, 1)}min"


def _duration(seconds: float) -> str:
    whole = max(0, floor(seconds))
    for size, unit, part, part_unit in ((86_400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {unit}" + (f" {rest} {part_unit}" if rest else "")
    return f"{whole} s"


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _seconds(begin: str, end: str) -> float:
    return (_time(end) - _time(begin)).total_seconds()


def _moment(text: str) -> str:
    return f"{text[:10]} {text[11:19]} UTC"
