"""The tournament and what a budget makes of it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from railwright.core.ids import NodeName
from railwright.verify.model import Direction, MemoryKind, Step
from railwright.verify.schedule import left_out, make_schedule, round_s, tournament

STEPS = tuple(Step(name, Direction.WRITE, MemoryKind.HOST, expected_s=9.0) for name in ("engine", "perftest", "sweep"))


def names(count: int) -> tuple[NodeName, ...]:
    return tuple(NodeName(f"n{number}") for number in range(count))


@settings(deadline=None, max_examples=80)
@given(st.integers(min_value=2, max_value=75))
def test_everyone_meets_everyone_once_and_nobody_twice_in_a_round(count: int) -> None:
    rounds = tournament(count)
    assert len(rounds) == (count - 1 if count % 2 == 0 else count)
    met = [pair for matches in rounds for pair in matches]
    assert len(met) == len(set(met)) == count * (count - 1) // 2
    for matches in rounds:
        players = [player for pair in matches for player in pair]
        assert len(players) == len(set(players)) == count - count % 2


def test_one_node_alone_has_nobody_to_meet() -> None:
    assert tournament(1) == tournament(0) == ()


def test_without_a_budget_everything_is_planned() -> None:
    schedule = make_schedule(names(6), STEPS)
    assert (len(schedule.rounds), schedule.reason, left_out(schedule, 8)) == (5, "", ())


def test_a_budget_plans_what_fits_and_names_what_does_not() -> None:
    schedule = make_schedule(names(6), STEPS, budget_s=2 * round_s(STEPS) + 1)
    assert len(schedule.rounds) == 2
    assert schedule.expected_s <= 2 * round_s(STEPS) + 1
    (missing,) = left_out(schedule, 8)
    assert missing.cells == 3 * 3 * 8 * 3
    assert "budget of 57 s" in missing.reason
    assert missing.examples[0].startswith("n")


def test_a_budget_too_small_for_one_round_drops_the_least_important_steps_first() -> None:
    schedule = make_schedule(names(4), STEPS, budget_s=round_s(STEPS[:2]))
    assert [step.family for step in schedule.steps] == ["engine", "perftest"]
    assert len(schedule.rounds) == 1
    assert [item.reason.split(":")[0] for item in left_out(schedule, 1)] == ["pairs left out", "steps left out"]
    assert f"room for 2 of {len(STEPS)} steps of a round" in schedule.reason


def test_a_budget_that_a_quick_run_does_not_use_up_leaves_nothing_out() -> None:
    schedule = make_schedule(names(6), STEPS, budget_s=3 * round_s(STEPS), most_rounds=1)
    assert schedule.reason == "a quick run: 1 of 5 rounds"


def test_a_budget_too_small_for_anything_plans_nothing_and_says_so() -> None:
    schedule = make_schedule(names(4), STEPS, budget_s=0.5)
    assert schedule.rounds == ()
    assert "0 of 3 rounds" in schedule.reason


def test_a_quick_run_touches_every_node_also_when_their_number_is_odd() -> None:
    for count, rounds in ((6, 1), (7, 2)):
        schedule = make_schedule(names(count), STEPS, most_rounds=1)
        assert len(schedule.rounds) == rounds
        assert {player for matches in schedule.rounds for pair in matches for player in pair} == set(range(count))
