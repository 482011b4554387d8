from hypothesis import given
from hypothesis import strategies as st

from appliance.agent.page_text import changes_since, read_page
from tests.appliance.agent.seeing import observation
from tests.stand_in.lookup import apply_changes

NAMES = st.text(alphabet="abXYä .,|~@+-…[]<>", min_size=0, max_size=70)


@st.composite
def pages(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """A page and what became of it: every line has a number or a text of its own, elements may read otherwise."""
    names = draw(st.lists(NAMES, min_size=1, max_size=25))
    numbered = [f"[{number}]<a>{name}" if number % 3 else f"text {number}: {name}" for number, name in enumerate(names)]
    kept = draw(
        st.lists(st.sampled_from(["same", "gone", "other", "behind"]), min_size=len(names), max_size=len(names))
    )
    now: list[str] = []
    for number, (line, fate) in enumerate(zip(numbered, kept, strict=True)):
        if fate == "other":
            now.append(f"[{number}]<a>{draw(NAMES)}" if line.startswith("[") else f"text {number}, now {draw(NAMES)}")
        elif fate != "gone":
            now.append(line)
        if fate == "behind":
            now.append(f"*[{number + 100}]<b>{draw(NAMES)}")
    return numbered, now


@given(pages())
def test_the_changes_make_the_new_page_out_of_the_old_one(page: tuple[list[str], list[str]]):
    before, now = page
    base, read = (read_page(observation(*lines), 100_000) for lines in (before, now))
    changes = changes_since(base, read, 100_000)
    assert changes is not None
    assert apply_changes(list(base.lines), changes.splitlines()) == list(read.lines)
    assert (changes == "") == (base.lines == read.lines)


@given(pages())
def test_no_more_is_told_than_there_is_room_for(page: tuple[list[str], list[str]]):
    base, read = (read_page(observation(*lines), 100_000) for lines in page)
    for limit in (0, 50, 200):
        changes = changes_since(base, read, limit)
        assert changes is None or len(changes) <= limit


def test_what_a_page_is_told_about_itself_stands_before_and_behind_its_lines():
    text = read_page(observation("a", "b"), 100).text
    assert text == "URL: http://shop/\nTitle: Shop\n(top of the page)\na\nb\n(300 px below)"
