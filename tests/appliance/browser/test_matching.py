import msgspec
import pytest

from appliance.browser.connection import Browser
from appliance.browser.matching import Candidate, ElementKeys, Match, choose, search, take_keys
from tests.site import Site

BASE = ElementKeys(
    tag="button",
    role="button",
    name="Save",
    attributes={"type": "submit"},
    classes=("primary", "btn_b7Tz4"),
    path="html[1]/body[1]/form[1]/button[1]",
    near="E-mail",
)


def like(**changes: object) -> ElementKeys:
    return msgspec.structs.replace(BASE, **changes)


def found(wanted: ElementKeys, *keys: ElementKeys, hidden: tuple[ElementKeys, ...] = ()) -> Match:
    return choose(wanted, [Candidate(one, True) for one in keys] + [Candidate(one, False) for one in hidden])


ELSEWHERE = like(path="html[1]/body[1]/footer[1]/button[1]", name="Help", near="")


@pytest.mark.parametrize(
    ("level", "today"),
    [
        ("exact", like()),
        ("exact", like(path="html[1]/body[1]/form[2]/button[3]")),
        ("stable", like(classes=("primary", "btn_x9K2q"))),
        ("stable", like(classes=("primary", "btn_b7Tz4", "is-focused"))),
        ("path", like(name="Store changes")),
        ("role and name", like(tag="div", path="html[1]/body[1]/div[4]", attributes={})),
        ("attributes", like(name="Store", path="html[1]/body[1]/p[1]/button[1]", attributes={"data-testid": "s"})),
    ],
)
def test_an_element_is_known_again_by_the_first_level_that_is_sure(level: str, today: ElementKeys):
    wanted = like(attributes={"data-testid": "s"}) if level == "attributes" else BASE
    match = found(wanted, ELSEWHERE, today)
    assert match.found is not None
    assert (match.level, match.found.keys) == (level, today)


def row(number: int, near: str, **changes: object) -> ElementKeys:
    return like(name="Add", path=f"html[1]/body[1]/ul[1]/li[{number}]/button[1]", near=near, attributes={}, **changes)


def test_one_of_equal_elements_is_told_by_what_stands_around_it():
    wanted = row(1, "Blue mug 12.00", twin=True)
    match = found(wanted, row(1, "Red mug 14.00"), row(2, "Blue mug 12.00"))
    assert match.found is not None
    assert match.found.keys.near == "Blue mug 12.00"


def test_numbers_around_it_may_have_changed():
    wanted = row(1, "Blue mug 12.00", twin=True)
    match = found(wanted, row(1, "Red mug 14.00"), row(2, "Blue mug 13.00"))
    assert match.found is not None
    assert match.found.keys.near == "Blue mug 13.00"


def test_among_equals_in_equal_surroundings_the_place_decides():
    wanted = row(2, "", twin=True)
    match = found(wanted, row(1, ""), row(2, ""), row(3, ""))
    assert match.found is not None
    assert match.found.keys.path == wanted.path


def test_it_is_not_guessed_which_of_several_is_meant():
    match = found(row(1, "Blue mug", twin=True), row(1, "Red mug"), row(2, "Green bowl"))
    assert match.found is None
    assert "2 on the page may be it by exact" in match.reason


def test_the_last_of_several_equal_ones_is_not_taken_for_one_that_is_gone():
    match = found(row(1, "Blue mug", twin=True), row(1, "Red mug"))
    assert match.found is None
    assert match.reason


def test_another_element_in_the_same_place_is_not_it():
    other = like(name="Delete", attributes={"id": "delete"})
    match = found(like(attributes={"id": "save"}), other)
    assert match.found is None
    assert "something else" in match.reason


def test_a_name_that_moved_wins_over_what_now_stands_in_its_place():
    moved = like(path="html[1]/body[1]/form[1]/p[1]/button[1]", classes=())
    match = found(BASE, like(name="Cancel"), moved)
    assert match.found is not None
    assert (match.found.keys, match.level) == (moved, "role and name")


def test_the_same_frame_is_preferred():
    wanted = like(frame="/frame.html", classes=())
    inside, outside = like(frame="/frame.html", classes=("new",)), like(frame="", classes=("new",))
    match = found(wanted, outside, inside)
    assert match.found is not None
    assert match.found.keys == inside


def test_an_element_that_cannot_be_seen_is_told_from_one_that_is_gone():
    assert found(BASE, ELSEWHERE, hidden=(BASE,)).is_hidden
    assert not found(BASE, ELSEWHERE).is_hidden
    assert "nothing on the page is like" in found(BASE, ELSEWHERE).reason


async def keys_of(browser: Browser, name: str, number: int = 0) -> ElementKeys:
    views = (await browser.observe(with_screenshot=False)).elements.values()
    index = [view.index for view in views if view.name == name][number]
    keys = await take_keys(browser.element(index))
    assert keys is not None
    return keys


async def open_shop(browser: Browser, site: Site, today: str = "") -> None:
    await browser.tab.navigate(site.url("/replay_shop.html"))
    await browser.tab.evaluate(f"localStorage.setItem('replay', {today!r}), 0")
    await browser.tab.navigate(site.url("/replay_shop.html"))
    await browser.settle()


async def test_keys_say_what_the_element_is_and_where_it_stands(browser: Browser, site: Site):
    await open_shop(browser, site)
    add = await keys_of(browser, "Add", 1)
    assert (add.tag, add.role, add.name, add.near, add.twin) == ("button", "button", "Add", "Red mug 14.00", True)
    assert add.path.endswith("ul[1]/li[2]/button[1]")
    more = await keys_of(browser, "More")
    assert (more.opens, more.twin, more.attributes["id"]) == (True, False, "more")
    email = await keys_of(browser, "E-mail")
    assert (email.role, email.attributes["name"]) == ("textbox", "email")


@pytest.mark.parametrize(
    ("name", "number", "today", "level"),
    [
        ("Add", 1, "", "exact"),
        ("Add", 0, "reversed", "exact"),
        ("Add", 1, "rehashed", "stable"),
        ("Add", 0, "reversed rehashed dearer", "stable"),
        ("Save", 0, "renamed", "path"),
        ("Save", 0, "renamed anonymous", ""),
        ("Add", 1, "soldout", ""),
    ],
)
async def test_an_element_is_found_on_the_page_of_another_day(
    browser: Browser, site: Site, name: str, number: int, today: str, level: str
):
    await open_shop(browser, site)
    wanted = await keys_of(browser, name, number)
    await open_shop(browser, site, today)
    match = await search(browser, wanted)
    assert match.level == level, match.reason
    if match.found is not None and wanted.twin:
        assert match.found.keys.near.split()[0] == wanted.near.split()[0]


async def test_a_found_element_can_be_used_though_it_was_not_shown(browser: Browser, site: Site):
    await open_shop(browser, site)
    wanted = await keys_of(browser, "Add", 2)
    await open_shop(browser, site)
    match = await search(browser, wanted)
    assert match.found is not None
    assert match.found.element is not None
    index = browser.adopt(match.found.element)
    await browser.element(index).call("function() { this.click(); }")
    assert await browser.tab.evaluate("log.textContent") == "added Green bowl; "


async def test_an_item_of_a_closed_menu_is_hidden(browser: Browser, site: Site):
    await open_shop(browser, site)
    await browser.tab.evaluate("more.click()")
    wanted = await keys_of(browser, "Opening hours")
    await open_shop(browser, site)
    assert (await search(browser, wanted)).is_hidden


async def test_elements_in_frames_of_other_sites_are_found(browser: Browser, site: Site):
    await browser.tab.navigate(site.url("/frames.html"))
    await browser.settle()
    views = (await browser.observe(with_screenshot=False)).elements
    for index in views:
        keys = await take_keys(browser.element(index))
        assert keys is not None
        match = await search(browser, keys)
        assert match.found is not None, (keys, match.reason)
        assert match.found.element is not None
        assert browser.adopt(match.found.element) == index
    frames = {(await take_keys(browser.element(index)) or BASE).frame for index in views}
    assert "" not in frames or len(frames) > 1


@pytest.mark.parametrize("page", ["shadow.html", "zoo_closed.html"])
async def test_elements_in_shadow_roots_are_found_when_the_page_is_loaded_anew(browser: Browser, site: Site, page: str):
    await browser.tab.navigate(site.url(f"/{page}"))
    await browser.settle()
    views = (await browser.observe(with_screenshot=False)).elements
    wanted = [keys for index in views if (keys := await take_keys(browser.element(index))) is not None]
    assert any("#shadow" in keys.path for keys in wanted)
    await browser.tab.navigate(site.url(f"/{page}"))
    await browser.settle()
    await browser.observe(with_screenshot=False)
    for keys in wanted:
        match = await search(browser, keys)
        assert match.level == "exact", (keys, match.reason)
