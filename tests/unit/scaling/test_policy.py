"""The number of workers that the policy, and a HorizontalPodAutoscaler, decide from a lag."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsql_runner.scaling.hpa import HpaPolicy, decide_as_hpa
from lsql_runner.scaling.policy import CatchUp, Lag, LagPerWorker, Policy, ScalingHistory, decide, needed
from lsql_runner.scaling.window import Proposal, Windows, WorkerLimits

AT_ONCE = Windows(up_s=0, down_s=0)
POLICY = Policy(worker_rate=100, target=CatchUp(60), windows=AT_ONCE, cooldown_s=0)


def desired(policy: Policy, lag: Lag, current: int, history: ScalingHistory | None = None) -> int:
    return decide(policy, history or ScalingHistory(), lag, current)[0]


@pytest.mark.parametrize(
    ("target", "lag", "workers"),
    [
        (CatchUp(60), Lag(0, 0, 250), 2.5),
        (CatchUp(60), Lag(0, 6_000, 250), 3.5),
        (LagPerWorker(1_000), Lag(0, 0, 250), 2.5),
        (LagPerWorker(1_000), Lag(0, 6_000, 250), 6),
    ],
)
def test_workers_are_needed_for_arriving_records_and_for_the_lag(
    target: CatchUp | LagPerWorker, lag: Lag, workers: float
) -> None:
    assert needed(Policy(worker_rate=100, target=target), lag) == workers


@pytest.mark.parametrize(
    ("arriving", "current", "expected"),
    [
        pytest.param(219, 2, 2, id="too few within the tolerance"),
        pytest.param(221, 2, 3, id="too few"),
        pytest.param(181, 3, 3, id="2 workers would leave less than the tolerance"),
        pytest.param(179, 3, 2, id="2 workers leave the tolerance"),
        pytest.param(300, 2, 3, id="a whole number is not rounded up"),
    ],
)
def test_a_number_within_the_tolerance_stays(arriving: float, current: int, expected: int) -> None:
    assert desired(POLICY, Lag(0, 0, arriving), current) == expected


@pytest.mark.parametrize(("partitions", "cores", "most"), [(None, 1, 8), (3, 1, 3), (3, 2, 2), (100, 1, 8)])
def test_there_are_no_more_workers_than_partitions_need(partitions: int | None, cores: int, most: int) -> None:
    policy = Policy(worker_rate=100, limits=WorkerLimits(maximum=8, partitions=partitions, cores=cores))

    assert desired(policy, Lag(0, 1e9, 0), 1) == most


@pytest.mark.parametrize("wrong", [{"minimum": 0}, {"minimum": 9}, {"minimum": 2, "partitions": 1}, {"cores": 0}])
def test_limits_without_an_allowed_number_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="minimum"):
        WorkerLimits(**wrong)


def test_nothing_changes_in_the_cool_down() -> None:
    policy = Policy(worker_rate=100, windows=AT_ONCE, cooldown_s=30)
    changed = ScalingHistory(changed_s=100)

    assert desired(policy, Lag(129, 0, 500), 1, changed) == 1
    assert desired(policy, Lag(130, 0, 500), 1, changed) == 5


def test_a_number_outside_the_limits_is_corrected_in_the_cool_down() -> None:
    policy = Policy(worker_rate=100, limits=WorkerLimits(maximum=8), cooldown_s=30)

    assert desired(policy, Lag(129, 0, 500), 20, ScalingHistory(changed_s=100)) == 8


@pytest.mark.parametrize(
    ("current", "now", "expected"),
    [
        pytest.param(1, 5, 3, id="grows to the smallest number of the last 60 s"),
        pytest.param(8, 2, 6, id="shrinks to the largest number of the last 300 s"),
        pytest.param(4, 5, 4, id="between both"),
    ],
)
def test_windows_stabilize_the_number(current: int, now: int, expected: int) -> None:
    proposals = (Proposal(699, 9), Proposal(701, 6), Proposal(939, 1), Proposal(941, 3), Proposal(1_000, now))

    assert Windows(up_s=60, down_s=300).stabilize(current, proposals, 1_000) == expected


def test_old_proposals_are_dropped() -> None:
    history = ScalingHistory()
    for at_s in range(0, 3_000, 15):
        _, history = decide(Policy(worker_rate=100), history, Lag(at_s, 0, 100), 1)

    assert len(history.proposals) == 300 / 15


LAGS = st.builds(Lag, st.just(0.0), st.floats(0, 1e12), st.floats(0, 1e12))
TARGETS = st.builds(CatchUp, st.floats(1e-3, 1e6)) | st.builds(LagPerWorker, st.floats(1e-3, 1e12))


@given(
    lags=st.lists(LAGS, min_size=1, max_size=8),
    target=TARGETS,
    minimum=st.integers(1, 5),
    maximum=st.integers(5, 50),
    partitions=st.none() | st.integers(5, 50),
    current=st.integers(1, 100),
    windows=st.builds(Windows, up_s=st.integers(0, 60), down_s=st.integers(0, 60)),
    cooldown=st.integers(0, 60),
    tolerance=st.floats(0, 0.9),
)
def test_the_number_is_always_within_the_limits(
    *,
    lags: list[Lag],
    target: CatchUp | LagPerWorker,
    minimum: int,
    maximum: int,
    partitions: int | None,
    current: int,
    windows: Windows,
    cooldown: int,
    tolerance: float,
) -> None:
    limits = WorkerLimits(minimum=minimum, maximum=maximum, partitions=partitions)
    policy = Policy(
        worker_rate=1e3, target=target, limits=limits, windows=windows, cooldown_s=cooldown, tolerance=tolerance
    )
    history, hpa_history = ScalingHistory(), ScalingHistory()
    hpa = HpaPolicy(target=1e3, limits=limits, windows=windows)
    by_hpa = current
    for step, lag in enumerate(lags):
        current, history = decide(policy, history, Lag(15 * step, lag.records, lag.arriving), current)
        by_hpa, hpa_history = decide_as_hpa(hpa, hpa_history, Lag(15 * step, lag.records, lag.arriving), by_hpa)

        assert minimum <= current <= min(maximum, partitions or maximum)
        assert minimum <= by_hpa <= min(maximum, partitions or maximum)


@pytest.mark.parametrize(
    ("records", "current", "expected"),
    [
        pytest.param(800, 4, 8, id="twice the target: twice the pods"),
        pytest.param(200, 4, 2, id="half the target: half the pods"),
        pytest.param(440, 4, 4, id="10 % more is tolerated"),
        pytest.param(441, 4, 5, id="more than 10 % is not"),
        pytest.param(360, 4, 4, id="10 % less is tolerated"),
        pytest.param(359, 5, 4, id="less is not"),
        pytest.param(9_000, 1, 5, id="4 pods more"),
        pytest.param(9_000, 6, 12, id="as many again"),
        pytest.param(0, 4, 1, id="the minimum"),
    ],
)
def test_a_horizontal_pod_autoscaler_follows_the_documented_formula(records: int, current: int, expected: int) -> None:
    policy = HpaPolicy(target=100, limits=WorkerLimits(maximum=50), windows=AT_ONCE)

    assert decide_as_hpa(policy, ScalingHistory(), Lag(0, records, 0), current)[0] == expected


def test_a_horizontal_pod_autoscaler_shrinks_after_300_seconds() -> None:
    policy, history, current = HpaPolicy(target=100), ScalingHistory(), 4
    numbers = []
    for at_s in range(0, 330, 15):
        current, history = decide_as_hpa(policy, history, Lag(at_s, 0, 0), current)
        numbers.append(current)

    assert numbers == [4] * 20 + [1] * 2
