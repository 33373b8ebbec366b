"""The document: stable ids, how long deleted processors are kept, and the size limit of a ConfigMap."""

from __future__ import annotations

import gzip
import random
import tracemalloc
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from devkit.console_fixtures import BEGIN
from devkit.fake_cluster import FakeCluster, workload
from lsql_runner.console.document import SQL_CHARS, Document, ProcessorEntry, RunnerReport, identity, merge
from lsql_runner.console.storage import FILE, LIMIT_BYTES, decode, encode
from lsql_runner.console.workloads import ProcessorWorkload, read_processor
from lsql_runner.errors import LsqlError
from lsql_runner.events.state import State

KEEP = timedelta(hours=24)
RUNNING = RunnerReport(state=State.RUNNING, lag=3, topics_in=("vehicles",))


def processor(name: str = "fast", **options: Any) -> ProcessorWorkload:
    return read_processor(FakeCluster().add(workload(name, **options)), "Deployment")


def merged(*known: ProcessorWorkload, former: Document | None = None, after_h: float = 0, **changes: Any) -> Document:
    """The document of these processors, made `after_h` hours after BEGIN. `changes` are other arguments of `merge`."""
    options: dict[str, Any] = {"namespaces": ["streams"], "failures": {}, "keep": KEEP} | changes
    rows = [(p.id or p.uid, p, RUNNING) for p in known]
    return merge(rows, former, BEGIN + timedelta(hours=after_h), "0.1.0", **options)


def only_entry(document: Document) -> ProcessorEntry:
    [entry] = document.processors
    return entry


class TestIdentity:
    def test_the_label_takes_precedence(self) -> None:
        labelled = replace(processor(), id="a-1")

        assert identity(labelled, merged(replace(labelled, id="b-2")).processors, set()) == "a-1"

    def test_a_new_id_is_the_uid_of_the_workload(self) -> None:
        new = processor()

        assert identity(new, (), set()) == new.uid

    def test_a_workload_created_again_under_its_name_has_its_former_id(self) -> None:
        former = merged(replace(processor(), id="a-1"))

        assert identity(processor(), former.processors, set()) == "a-1"

    def test_a_workload_created_again_as_another_kind_has_its_former_id(self) -> None:
        former = merged(replace(processor(), id="a-1"))

        assert identity(replace(processor(), kind="StatefulSet"), former.processors, set()) == "a-1"

    def test_a_workload_created_again_with_another_app_id_has_a_new_id(self) -> None:
        former = merged(replace(processor(), id="a-1"))
        other = processor(env={"SQL_APP_ID": "other"})

        assert identity(other, former.processors, set()) == other.uid

    def test_an_id_in_use_is_not_given_again(self) -> None:
        former = merged(replace(processor(), id="a-1"))
        new = processor()

        assert identity(new, former.processors, {"a-1"}) == new.uid


class TestMerge:
    def test_reports_workload_and_runner(self) -> None:
        entry = only_entry(merged(processor()))

        assert (entry.name, entry.state, entry.lag, entry.topics_in) == ("fast", "running", 3, ("vehicles",))
        assert entry.first_seen_at == entry.seen_at == BEGIN

    def test_the_first_time_is_kept(self) -> None:
        same = processor()

        entry = only_entry(merged(same, former=merged(same), after_h=5))

        assert (entry.first_seen_at, entry.seen_at) == (BEGIN, BEGIN + timedelta(hours=5))

    def test_a_missing_processor_is_deleted_with_the_time(self) -> None:
        entry = only_entry(merged(former=merged(processor()), after_h=2))

        assert (entry.state, entry.deleted_at, entry.seen_at) == ("deleted", BEGIN + timedelta(hours=2), BEGIN)

    def test_a_deleted_processor_is_kept_for_a_time(self) -> None:
        deleted = merged(former=merged(processor()), after_h=2)
        later = merged(former=deleted, after_h=25)

        assert only_entry(later).deleted_at == BEGIN + timedelta(hours=2)
        assert merged(former=later, after_h=26).processors == ()

    def test_a_processor_that_returns_with_its_id_is_not_deleted(self) -> None:
        same = processor()
        deleted = merged(former=merged(same), after_h=1)

        entry = only_entry(merged(same, former=deleted, after_h=2))

        assert (entry.state, entry.deleted_at, entry.first_seen_at) == ("running", None, BEGIN)

    def test_a_namespace_that_could_not_be_read_keeps_its_processors(self) -> None:
        document = merged(former=merged(processor()), after_h=1, failures={"streams": "forbidden"})

        assert only_entry(document).state == "running"
        assert [(failure.namespace, failure.text) for failure in document.failures] == [("streams", "forbidden")]

    def test_a_namespace_that_is_no_longer_configured_is_forgotten(self) -> None:
        assert merged(former=merged(processor()), namespaces=["other"]).processors == ()

    def test_the_last_topics_of_an_unreachable_runner_are_kept(self) -> None:
        same = processor()
        rows = [(same.uid, same, RunnerReport(state="unreachable", unreachable="silent"))]

        entry = only_entry(merge(rows, merged(same), BEGIN, "0.1.0", ["streams"], {}, KEEP))

        assert (entry.state, entry.topics_in, entry.lag) == ("unreachable", ("vehicles",), None)

    def test_a_long_program_is_cut_and_marked(self) -> None:
        entry = only_entry(merged(processor(sql="x" * 100_000)))

        assert (len(entry.sql or ""), entry.sql_truncated, entry.sql_chars) == (SQL_CHARS, True, 100_000)


class TestStorage:
    def test_a_stored_document_is_read_back(self) -> None:
        document = merged(replace(processor(sql="SELECT '€ ü' -- $(x)"), id="a-1"))

        assert decode(encode(document)) == document

    def test_an_empty_config_map_has_no_document(self) -> None:
        assert decode({}) is None

    @pytest.mark.parametrize("content", [b"", b"no gzip", encode(merged())[FILE][:-12], b"\x1f\x8b"])
    def test_an_invalid_document_is_refused(self, content: bytes) -> None:
        with pytest.raises(ValueError, match="not a document"):
            decode({FILE: content})

    def test_keys_of_a_later_version_are_ignored(self) -> None:
        document = merged(processor())
        text = document.model_dump_json(by_alias=True).replace('"format":1', '"format":1,"later":{}', 1)

        assert decode({FILE: gzip.compress(text.encode())}) == document

    def test_a_thousand_programs_of_100_kb_fit_in_bounded_memory(self) -> None:
        # Random text, which compresses badly: real programs need far less.
        source = random.Random(1)
        letters = "".join(source.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=1_100_000))
        tracemalloc.start()
        known = (
            processor(f"p-{number}", sql=letters[number * 1000 : number * 1000 + 100_000]).with_sql_limit(SQL_CHARS)
            for number in range(1000)
        )
        document = merged(*known)

        content = encode(document)

        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert sum(map(len, content.values())) <= LIMIT_BYTES
        assert peak_bytes < 150_000_000
        read = decode(content)
        assert read is not None
        assert len(read.processors) == 1000
        assert all(entry.sql_truncated and entry.sql_chars == 100_000 for entry in read.processors)
        [length] = {len(entry.sql or "") for entry in read.processors}
        assert length >= 256

    def test_programs_are_complete_if_they_fit(self) -> None:
        sql = "INSERT INTO a SELECT * FROM b -- " + "x" * 10_000
        document = merged(*(processor(f"p-{number}", sql=sql) for number in range(200)))

        read = decode(encode(document))

        assert read is not None
        assert {entry.sql for entry in read.processors} == {sql}

    def test_lists_are_dropped_before_processors(self) -> None:
        topics = tuple(f"{random.Random(number).getrandbits(600):x}" for number in range(100))
        document = merged(processor())
        entry = only_entry(document).model_copy(update={"topics_in": topics})

        read = decode(encode(document.model_copy(update={"processors": (entry,)}), limit_bytes=2_000))

        assert read is not None
        assert (only_entry(read).name, only_entry(read).topics_in) == ("fast", ())

    def test_a_document_that_cannot_fit_is_an_error_with_its_size(self) -> None:
        document = merged(*(processor(f"p-{number}") for number in range(50)))

        with pytest.raises(LsqlError) as caught:
            encode(document, limit_bytes=500)

        assert caught.value.code == "DOCUMENT_TOO_LARGE"
        assert caught.value.params["processors"] == 50
