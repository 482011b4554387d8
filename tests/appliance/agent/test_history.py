"""What is left out of a history: the oldest first, each gap told where it is, and no step for the sake of notes."""

from appliance.agent.history import Block, History
from tests.appliance.agent.seeing import finished

ROOM = 1_000_000


def grown(history: History, first: int, last: int) -> None:
    for number in range(first, last + 1):
        history.add_step(finished(number, text="x" * 900, see="y" * 80), number)


def spans(history: History) -> list[tuple[str, int, int]]:
    return [(block.kind, block.first, block.last) for block in history.blocks]


def test_steps_between_two_gaps_are_told_between_them():
    history = History()
    grown(history, 1, 10)
    history.freeze(ROOM, ROOM)
    grown(history, 11, 30)
    history.bound_after(0, 0)
    assert history.left_out
    history.freeze(3_000, 3_000)
    told = spans(history)
    assert told == sorted(told, key=lambda span: span[1])
    covered = [number for _, first, last in told for number in range(first, last + 1)]
    assert covered == list(range(1, 31))
    assert [kind for kind, *_ in told].count("left_out") == 2
    assert history.left_out + len(history.steps) == 30


def test_long_notes_do_not_drive_out_the_steps_before_the_newest():
    history = History(files="<files>\n" + "plan " * 600 + "\n</files>\n")
    history.after.append(Block("files", history.files))
    grown(history, 1, 12)
    history.freeze(2_000, 1_000)
    assert [block.first for block in history.steps][:1] == [1]
    assert [block.first for block in history.steps][-3:] == [10, 11, 12]


def test_a_summary_stands_where_the_steps_stood_that_it_is_about():
    history = History()
    grown(history, 1, 12)
    history.before = [*history.after[:1], Block("left_out", "", 2, 11), *history.after[-1:]]
    history.after = []
    history.put_checkpoint("Ten steps.", 4_000)
    assert spans(history) == [("step", 1, 1), ("checkpoint", 2, 11), ("step", 12, 12)]
