"""Which checkpoints the queries of a changed program continue. They are matched by content, not by position."""

from __future__ import annotations

from dataclasses import replace

from lsql_runner.plan.continuation import Continuation, continue_from
from lsql_runner.plan.fingerprint import Fingerprint
from lsql_runner.plan.queries import Plan
from tests.unit.plan.test_fingerprint import fingerprinted, planned

COUNT = "INSERT INTO counts SELECT STREAM COUNT(*) AS n FROM t GROUP BY g;"
SUM = "INSERT INTO sums SELECT STREAM SUM(a) AS s FROM t GROUP BY g HAVING SUM(a) > 1;"
JOIN = "INSERT INTO pairs SELECT STREAM t.a AS a, u.d AS d FROM t INNER JOIN u ON t.g = u.g WITHIN 1m;"
COPY = "INSERT INTO copy SELECT STREAM * FROM t;"
READ_U = "INSERT INTO copy_of_u SELECT STREAM * FROM u;"


def continued(old: str, new: str) -> Continuation:
    return continue_from(planned(new), fingerprinted(old))


def named(plan: Plan) -> dict[str, tuple[str, tuple[str, ...]]]:
    """The names of the query and of its stores, by target."""
    stores = {query.name: tuple(node.store for node in query.stores) for query in plan.queries}
    return {write.name: (query.name, stores[query.name]) for query in plan.queries for write in query.writes}


def test_an_unchanged_program_continues_all_queries() -> None:
    continuation = continued(COUNT + SUM + COPY, COUNT + SUM + COPY)

    assert (continuation.plan, continuation.added, continuation.dropped) == (planned(COUNT + SUM + COPY), (), ())


def test_an_insert_added_in_front_does_not_rename_the_others() -> None:
    before = named(planned(COUNT + SUM))

    continuation = continued(COUNT + SUM, JOIN + COUNT + SUM)

    after = named(continuation.plan)
    assert continuation.changes == ()
    assert {target: after[target] for target in before} == before
    assert after["pairs"] == ("stateful-2", ("join-0",))
    assert continuation.added == ("stateful-2",)


def test_an_insert_added_between_similar_inserts_gets_new_stores() -> None:
    other = "INSERT INTO others SELECT STREAM MAX(a) AS m FROM t GROUP BY g;"

    after = named(continued(COUNT + SUM, COUNT + other + SUM).plan)

    assert after["counts"] == ("stateful-0", ("aggregate-0",))
    assert after["sums"] == ("stateful-1", ("having-2", "aggregate-1"))
    assert after["others"] == ("stateful-2", ("aggregate-2",))


def test_reordered_inserts_keep_their_names() -> None:
    assert named(continued(COUNT + SUM, SUM + COUNT).plan) == named(planned(COUNT + SUM))


def test_a_new_source_of_a_stateless_insert_restarts_only_the_stateless_query() -> None:
    continuation = continued(COUNT + COPY, COUNT + COPY + READ_U)

    assert continuation.changes == ()
    assert (continuation.added, continuation.dropped) == (("stateless",), ("stateless",))


def test_removing_a_stateless_insert_keeps_the_state() -> None:
    continuation = continued(COUNT + COPY, COUNT)

    assert (continuation.changes, continuation.added, continuation.dropped) == ((), (), ("stateless",))


def test_inserts_with_equal_content_are_matched_by_target() -> None:
    copy = COUNT.replace("counts", "counts_copy")

    assert named(continued(COUNT + copy, copy + COUNT).plan) == named(planned(COUNT + copy))


def test_a_new_insert_with_equal_content_does_not_take_over_the_state() -> None:
    copy = COUNT.replace("counts", "counts_copy")

    continuation = continued(COUNT, copy + COUNT)

    assert named(continuation.plan)["counts"] == ("stateful-0", ("aggregate-0",))
    assert continuation.added == ("stateful-1",)


def test_removing_a_stateful_insert_is_reported() -> None:
    continuation = continued(COUNT + SUM, COUNT)

    assert [(change.code, change.params) for change in continuation.changes] == [("REMOVED", {"target": "sums"})]


def test_a_query_whose_state_is_lost_has_an_unused_name_beside_those_that_continue() -> None:
    continuation = continued(COUNT + SUM, JOIN + SUM)

    assert [query.name for query in continuation.plan.queries] == ["stateful-2", "stateful-1"]
    assert (continuation.added, continuation.dropped) == (("stateful-2",), ("stateful-0", "stateful-2"))


def test_a_kept_state_is_continued_by_the_same_insert() -> None:
    lost = fingerprinted(SUM.replace("sums", "counts"))
    renamed = Fingerprint((replace(fingerprinted(COUNT).queries[0], name="stateful-7", stores=("aggregate-7",)),))

    back = continue_from(planned(COUNT), lost, renamed)
    other = continue_from(planned(COUNT.replace("counts", "others")), lost, renamed)

    assert [(query.name, query.stores[0].store) for query in back.plan.queries] == [("stateful-7", "aggregate-7")]
    assert (back.changes, back.returned, back.dropped) == ((), ("stateful-7",), ("stateful-0",))
    assert other.returned == ()


def test_the_clock_of_final_results_is_renamed_with_its_store() -> None:
    final = "SET emit='final'; "
    windows = (
        "WITH w AS (SELECT STREAM t.g AS g, u.d AS d FROM t INNER JOIN u ON t.g = u.g WITHIN 1m); "
        "INSERT INTO o SELECT STREAM SUM(d) AS s FROM w WINDOW BY TUMBLE 1m GROUP BY g;"
    )
    hourly = "INSERT INTO p SELECT STREAM COUNT(*) AS n FROM t WINDOW BY TUMBLE 1h GROUP BY g;"

    continuation = continued(final + hourly, final + windows + hourly)

    query = next(query for query in continuation.plan.queries if query.writes[0].name == "o")
    aggregate, join = query.stores
    assert (aggregate.store, join.store, getattr(join, "clock", None)) == ("aggregate-1", "join-0", "aggregate-1")


def test_the_dead_letter_query_refers_to_the_renamed_inserts() -> None:
    policy = "SET error.policy.read='dlq'; SET dead.letter.queue='dead'; "

    continuation = continued(policy + COUNT, policy + SUM + COUNT)

    *others, dead_letters = continuation.plan.queries
    assert dead_letters.dead_letters_of == tuple(write for query in others for write in query.writes)


def test_an_insert_into_a_sink_keeps_its_name() -> None:
    """The sink records written batches by the name of the query."""
    first, second = (f"INSERT INTO shop.{table} SELECT STREAM a FROM t;" for table in ("first", "second"))

    assert named(continued(second, first + second).plan) == {
        "shop.first": ("sink-1", ()),
        "shop.second": ("sink-0", ()),
    }
