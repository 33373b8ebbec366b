"""Processors with one application id and different state: the later one waits."""

from dataclasses import replace
from pathlib import Path

from devkit.fake_runtime import APP_ID, FakeRuntime
from lsql_runner.events.state import State
from lsql_runner.state.group_claims import EXPIRES_MS, GroupClaims, claim_of, metadata_of, topic_id_of
from tests.unit.runtime.conftest import P0


class Other:
    """A processor with other state."""

    def __init__(self, runtime: FakeRuntime) -> None:
        self._brokers = runtime.brokers
        self._claims = GroupClaims(APP_ID, runtime.brokers, self, lambda: runtime.now_ms)

    def id(self) -> str:
        return "other"

    new_id = id

    def commits(self) -> None:
        self._brokers.commit(APP_ID, {P0: 0}, {"t": metadata_of("", self._claims.own())})


def test_a_start_waits_while_another_processor_renews_its_claim(runtime: FakeRuntime) -> None:
    other = Other(runtime)
    other.commits()

    with runtime.process() as running:
        for _ in range(5):
            assert (running.state, running.reason, running.health()) == (
                State.WAITING,
                "APP_ID_IN_USE",
                ["app-id-in-use"],
            )
            assert runtime.engine.jobs == []
            running.advance_s(EXPIRES_MS // 2000)
            other.commits()
            running.turn()


def test_a_start_goes_on_when_the_claim_has_expired(runtime: FakeRuntime) -> None:
    Other(runtime).commits()

    with runtime.process() as running:
        running.advance_s(EXPIRES_MS // 1000 + 1)
        running.turn()
        running.turn()

        assert running.state is State.RUNNING


def test_a_processor_that_was_stopped_leaves_no_claim(runtime: FakeRuntime, tmp_path: Path) -> None:
    with runtime.process() as running:
        running.run()
        assert runtime.brokers.group_metadata(APP_ID, [P0])

    with runtime.process(SQL_STATE_STORE_DIR=str(tmp_path / "other")) as running:
        running.turn()
        assert running.state is State.RUNNING


def test_a_killed_processor_starts_again_at_once(runtime: FakeRuntime) -> None:
    with runtime.process() as running:
        running.run()
        claim = runtime.brokers.group_metadata(APP_ID, [P0])[P0]
    runtime.brokers.commit(APP_ID, {P0: 1}, {"t": claim})  # the end of the process did not replace it

    with runtime.process() as running:
        running.turn()
        assert running.state is State.RUNNING


def test_a_processor_that_meets_one_that_began_before_it_restarts_and_waits(runtime: FakeRuntime) -> None:
    other = Other(runtime)
    runtime.now_ms += 1
    with runtime.process() as running:
        running.run()
        other.commits()
        running.advance_s(6)
        assert runtime.reporting is not None
        runtime.reporting.batch_ended()
        running.turn()

        assert running.state is State.RESTARTING
        assert running.reason == "APP_ID_IN_USE"


def test_metadata_of_others_are_no_claims(runtime: FakeRuntime) -> None:
    for text in ("a note", "{}", "[]", '{"state": "s"}', "7"):
        runtime.brokers.commit(APP_ID, {P0: 0}, {"t": text})
        with runtime.process() as running:
            running.turn()
            assert running.state is State.RUNNING


def test_metadata_has_the_claim_and_the_id_of_the_topic(runtime: FakeRuntime) -> None:
    claim = GroupClaims(APP_ID, runtime.brokers, Other(runtime), lambda: runtime.now_ms).own()

    both = metadata_of("a" * 32, claim)
    assert (claim_of(both), topic_id_of(both)) == (claim, "a" * 32)
    assert (claim_of(metadata_of("a" * 32, None)), topic_id_of(metadata_of("", claim))) == (None, "")
    assert metadata_of("", None) == ""


def test_metadata_of_the_longest_name_of_a_host_is_accepted_by_brokers(runtime: FakeRuntime) -> None:
    claim = GroupClaims(APP_ID, runtime.brokers, Other(runtime), lambda: runtime.now_ms).own()

    assert len(metadata_of("a" * 32, replace(claim, host="h" * 253))) < 600  # offset.metadata.max.bytes is 4,096
