"""When faults happen, and which samples they leave to judge."""

import pytest

from bench.soak.plan import Fault, Slot, phase, phase_at, slots


@pytest.mark.parametrize(("minutes", "rounds"), [(3, 1), (10, 1), (40, 1), (120, 3)])
def test_a_run_begins_without_a_fault_and_then_has_rounds_of_all_faults(minutes: int, rounds: int) -> None:
    plan = slots(minutes)

    assert [each.fault for each in plan] == [None, *(list(Fault) * rounds)]
    assert plan[0].begin_s == 0
    assert plan[-1].end_s == pytest.approx(minutes * 60)
    assert [each.begin_s for each in plan[1:]] == [each.end_s for each in plan[:-1]]


def test_a_round_may_have_some_of_the_faults() -> None:
    plan = slots(80, [Fault.BURST, Fault.STOP])

    assert [each.fault for each in plan] == [None, Fault.BURST, Fault.STOP, Fault.BURST, Fault.STOP]


@pytest.mark.parametrize("minutes", [3, 10, 20, 120])
def test_more_than_a_third_of_each_slot_is_quiet(minutes: int) -> None:
    for slot in slots(minutes):
        length_s = slot.end_s - slot.begin_s
        recovered_s = slot.begin_s + (slot.burst_s if slot.fault is Fault.BURST else 0)

        assert slot.end_s - phase(slot, 0, begin_s=slot.begin_s, caught_up_s=recovered_s).quiet_s > length_s / 3


def test_a_new_process_warms_up_before_it_is_judged() -> None:
    killed, burst = Slot(Fault.KILL, 600, 1200), Slot(Fault.BURST, 600, 1200)

    assert phase(killed, 0, begin_s=600, caught_up_s=620).quiet_s == 620 + 180
    assert phase(burst, 0, begin_s=600, caught_up_s=620).quiet_s == 620 + 60


def test_only_a_new_process_and_a_new_partition_change_the_level() -> None:
    assert {each for each in Fault if each.changes_level} == {Fault.KILL, Fault.PARTITION}


def test_a_time_belongs_to_the_last_phase_that_began_before() -> None:
    phases = [
        phase(Slot(None, 0, 100), 0, begin_s=0, caught_up_s=10),
        phase(Slot(Fault.KILL, 100, 200), 1, begin_s=105, caught_up_s=115),
    ]

    assert [phase_at(phases, at_s) for at_s in (-1, 50, 104, 105, 250)] == [
        "start",
        "start",
        "start",
        Fault.KILL,
        Fault.KILL,
    ]
