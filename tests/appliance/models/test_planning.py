"""The parts of the keyless model's planning: which links are rows, how a list goes on, what a task demands."""

import pytest

from appliance.content import Content
from appliance.models.base import Scene
from appliance.models.demands import beyond_reading, wanted_pages, wanted_rows
from appliance.models.details import choose_details
from appliance.models.obstacles import explain
from appliance.models.pagination import find_next
from appliance.models.survey import read_survey, survey
from appliance.store.links import FoundLink
from appliance.store.paging import is_paging, says_more, says_next
from appliance.store.schema import AnswerSchema

SITE = "http://shop.test"
LIST = f"{SITE}/lamps"


def link(path: str, text: str, row: str = "", *, frame: str = "", host: str = SITE) -> FoundLink:
    return FoundLink(host + path, text, frame, f"{text}\n{row}" if row else text)


def chosen(*links: FoundLink, task: str = "") -> list[str]:
    return [one.url.removeprefix(SITE) for one in choose_details(links, LIST, task).links]


MENU = tuple(link(f"/{name}", name.title()) for name in ("about", "blog", "team", "jobs", "partners", "contact"))


def test_rows_that_say_more_than_their_links_are_chosen_before_a_longer_menu():
    rows = [link(f"/item/{number}", f"Lamp {number}", f"€ {number}") for number in range(1, 5)]
    assert chosen(*MENU, *rows) == ["/item/1", "/item/2", "/item/3", "/item/4"]
    assert choose_details((*MENU, *rows), LIST).is_sure
    assert not choose_details(MENU, LIST).is_sure


def test_a_picture_and_a_name_with_one_address_are_one_row_and_page_order_is_kept():
    rows = [link("/item/b", ""), link("/item/b", "Bow", "12"), link("/item/a", "Arc", "13"), link("/item/a#top", "Arc")]
    assert chosen(*rows) == ["/item/b", "/item/a"]


@pytest.mark.parametrize(
    "paths",
    [
        ["/item.php?id=1&ref=x", "/item.php?id=2&ref=x"],
        ["/catalogue/arc_1/index.html", "/catalogue/bow_2/index.html"],
        ["/lamps/floor/arc", "/lamps/desk/bow", "/lamps/desk/cone"],
        ["/p-1.html", "/p-2.html"],
    ],
)
def test_addresses_that_differ_in_one_place_are_rows_of_one_list(paths: list[str]):
    assert chosen(*MENU, *(link(path, f"Lamp {path}", "€ 1") for path in paths)) == paths


def test_the_page_itself_other_hosts_files_paging_and_pages_of_every_site_are_no_rows():
    rows = [
        link("/lamps#1", "One", "x"),
        link("/lamps/", "Two", "x"),
        link("/sheet/1.pdf", "Data", "x"),
        link("/sheet/2.pdf", "Data", "x"),
        link("/lamps/2", "2"),
        link("/lamps/3", "Next page"),
        link("/item/1", "Ad", "€ 1", host="http://ads.test"),
        link("/item/2", "Ad", "€ 2", host="http://ads.test"),
        link("/login", "Sign in", "now"),
        link("/privacy", "Privacy", "policy"),
    ]
    assert chosen(*rows) == []


def test_rows_in_a_panel_of_another_host_belong_to_the_list():
    host, frame = "http://panel.test", "http://panel.test/frame"
    rows = [link("/item/1", "Arc", "€ 1"), link("/item/2", "Bow", "€ 2", frame=frame, host=host)]
    assert chosen(*MENU, *rows) == ["/item/1", "http://panel.test/item/2"]


def test_of_two_lists_the_one_that_the_task_names_is_chosen():
    rows = [link(f"/{kind}/{number}", f"{kind} {number}", "x") for kind in ("news", "lamps") for number in range(3)]
    assert chosen(*rows, task="Record all lamps of http://shop.test/news")[0] == "/lamps/0"
    assert chosen(*rows, task="Record the news")[0] == "/news/0"


# ---- how a list goes on -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["Next", "next page »", "›", "Nächste Seite", "Suivant", "Siguiente >", "次へ", "Далее", "Volgende", "→"]
)
def test_the_way_to_the_next_page_is_known_by_its_words(text: str):
    assert says_next(text)
    assert is_paging(text)


@pytest.mark.parametrize(
    "text", ["Load more lamps", "Show more", "Mehr anzeigen", "Voir plus", "Ver más", "もっと見る"]
)
def test_the_button_for_more_is_known_by_its_words(text: str):
    assert says_more(text)


@pytest.mark.parametrize(
    "text", ["Read more about us", "Nextcloud", "Next week's offers", "More", "Lamp 2", "", "2024 Arc"]
)
def test_other_words_are_no_paging(text: str):
    assert not says_next(text)
    assert not says_more(text)
    assert not is_paging(text)


def numbers(*shown: int) -> tuple[FoundLink, ...]:
    return tuple(link(f"/lamps?page={number}", str(number)) for number in shown)


@pytest.mark.parametrize(
    ("found", "following", "page", "address"),
    [
        ((link("/lamps/2", "Next"),), "", 1, "/lamps/2"),
        ((link("/lamps?p=2", "Older"),), f"{SITE}/lamps?p=3", 1, "/lamps?p=3"),
        (numbers(2, 3), "", 1, "/lamps?page=2"),
        (numbers(1, 2, 4), "", 3, "/lamps?page=4"),
        (numbers(1, 2), "", 3, ""),
        ((link("/lamps/2", "2"),), "", 1, ""),
        ((link("/lamps#", "Next"),), "", 1, ""),
        ((link("/x", "Next", host="http://other.test"),), "http://other.test/y", 1, ""),
        ((link("/about", "About"),), "", 1, ""),
    ],
)
def test_the_next_page_is_found_by_what_the_page_names_by_words_and_by_number(
    found: tuple[FoundLink, ...], following: str, page: int, address: str
):
    assert find_next(found, following, LIST, page) == (SITE + address if address else "")


# ---- what a task demands ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "rows", "pages"),
    [
        ("List the first 20 lamps of http://x.test/99", 20, None),
        ("The top five articles", 5, None),
        ("Record 12 new books, please", 12, None),
        ("List everything on the first 3 pages", None, 3),
        ("List the first page of lamps", None, 1),
        ("Record up to two pages of lamps", None, 2),
        ("List the lamps of http://x.test/first-10-items", None, None),
        ("Record the 1 lamp", None, None),
    ],
)
def test_numbers_in_a_task_limit_rows_and_pages(task: str, rows: int | None, pages: int | None):
    assert (wanted_rows(task), wanted_pages(task)) == (rows, pages)


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("List all lamps of http://x.test/best-of/login", ()),
        ("Find the cheapest lamp", ("compare or judge",)),
        ("Log in and list my orders", ("sign in",)),
        ("Add the lamp to the cart and sort by price", ("fill in forms", "compare or judge")),
    ],
)
def test_what_is_beyond_reading_is_known(task: str, said: tuple[str, ...]):
    assert beyond_reading(task) == said


def test_what_stands_in_the_way_is_named():
    assert "sign-in" in explain(Scene("t", lines=('[3]<input type="password">',)))
    assert "human" in explain(Scene("t", lines=("Verify you are human",)))
    assert explain(Scene("t", lines=("[1]<a>Password hints</a>",))) == ""


def test_brackets_that_nothing_closes_do_not_hold_up_the_survey():
    schema = AnswerSchema.read({"type": "object", "properties": {"name": {"type": "string"}}})
    content = Content(LIST, "Lamps", f"[A tall lamp]({SITE}/tall)\n\n{'[' * 200_000}")
    found = read_survey(survey(content, schema, "Read what a tall lamp costs"))
    assert found is not None
    assert found.named == f"{SITE}/tall"
