from appliance.models.base import Purpose, Text
from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands


def prompt(hands: Hands) -> str:
    part = hands.model.asked[-1].messages[0].parts[0]
    assert isinstance(part, Text)
    return part.text


async def test_the_page_is_read_by_the_model_and_its_answer_carried(hands: Hands):
    await hands.open("act_second.html")
    hands.model.answer = "The title is Second page."
    done = await hands.act("extract", query="the title")
    request = hands.model.asked[0]
    assert request.purpose is Purpose.EXTRACT
    assert request.scene is not None
    assert request.scene.content is not None
    assert request.scene.content.url.endswith("/act_second.html")
    assert "the title" in prompt(hands)
    assert "Second page" in prompt(hands)
    assert "act_pointer.html" not in prompt(hands)
    assert done.carried == "The title is Second page."
    assert done.lasting is not None
    assert done.lasting.endswith("The title is Second page.")
    assert done.tokens.input == 10
    assert [entry.name for entry in hands.context.scratchpad.listing()] == ["todo.md"]


async def test_links_are_given_when_asked_for(hands: Hands):
    await hands.open("act_second.html")
    hands.model.answer = "x"
    await hands.act("extract", query="links", extract_links=True)
    assert "act_pointer.html" in prompt(hands)


async def test_a_long_answer_goes_to_a_file_as_well(hands: Hands):
    await hands.open("act_second.html")
    hands.model.answer = "row\n" * 1000
    done = await hands.act("extract", query="all rows")
    assert done.carried == hands.model.answer.strip()
    assert "kept in extracted_content_1.md" in done.text
    assert len(done.lasting or "") < 300
    assert hands.context.scratchpad.read("extracted_content_1.md") == done.carried


async def test_an_answer_that_is_cut_off_is_not_taken_for_the_whole(hands: Hands):
    await hands.open("act_second.html")
    hands.model.answer, hands.model.stop = "row 1\nrow 2\nro", "length"
    done = await hands.act("extract", query="all rows")
    assert "cut off" in done.text
    assert "cut off" in (done.lasting or "")


async def test_a_long_page_is_read_in_parts(hands: Hands):
    await hands.open("act_second.html")
    await hands.js("""document.body.append(...Array.from({ length: 9000 }, (_, at) => {
        const row = document.createElement('p'); row.textContent = 'Row number ' + at; return row; })); 1""")
    hands.model.answer = "x"
    done = await hands.act("extract", query="rows")
    assert "go on with start_from_char" in done.text
    start = int(done.text.split("start_from_char ")[1].split(":")[0])
    assert len(prompt(hands)) < 101_000
    assert "Row number 8999" not in prompt(hands)
    await hands.act("extract", query="rows", start_from_char=start)
    assert "Row number 8999" in prompt(hands)
    done = await hands.act("extract", query="rows", start_from_char=10**7)
    assert done.status is ReceiptStatus.FAILED
    assert "beyond its end" in done.text


async def test_an_address_that_the_page_does_not_have_sign_for_sign_is_taken_out(hands: Hands):
    await hands.open("act_second.html")
    links = [f"https://shop.example/ware?{'q' * 290}{number:02}&x=(a_b)" for number in range(30)]
    await hands.js(f"""{links}.forEach((href) => {{
        const link = document.createElement('a'); link.href = href; link.textContent = 'A ware';
        document.body.append(link, ' '); }}); 1""")
    altered = links[7].replace("07", "7")
    hands.model.answer = "\n".join([*links[:7], altered, *links[8:]])
    done = await hands.act("extract", query="every link", extract_links=True)
    assert all(link in prompt(hands) for link in links)
    assert done.carried is not None
    kept = [line for line in done.carried.splitlines() if line.startswith("http")]
    assert kept == [*links[:7], *links[8:]]
    assert altered not in done.carried + done.text
    assert "1 address(es) in the answer that the page does not have taken out" in done.text
