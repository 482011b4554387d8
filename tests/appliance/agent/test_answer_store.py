from typing import Any

from appliance.agent.sight import read_line
from appliance.events import Notice
from appliance.words import Ending, ReceiptStatus
from tests.appliance.agent.conftest import Finish
from tests.site import Site

CHAIR: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "material": {"type": "string"},
        "weight": {"type": "number"},
        "guideUrl": {"type": "string"},
        "source": {"type": "string", "default": "the shop"},
    },
    "required": ["name", "material", "weight"],
}


def field(name: str, value: Any) -> dict[str, Any]:
    return {"set_field": {"field": name, "value": value}}


async def test_an_answer_is_filled_from_what_was_seen_and_each_value_traced_with_a_picture(finish: Finish, site: Site):
    page, guide = site.url("/product.html"), site.url("/guide")
    outcome, work = await finish(
        [
            {"navigate": {"url": page}},
            [
                field("guideUrl", guide + "s"),
                field("guideUrl", guide),
                field("name", "Blue chair"),
                field("weight", "5"),
            ],
            field("material", "Oak"),
            {"done": {"text": "Recorded.", "success": True}},
        ],
        output_schema=CHAIR,
    )
    assert outcome.ending is Ending.DONE
    assert outcome.output == {
        "name": "Blue chair",
        "material": "Oak",
        "weight": 5,
        "guideUrl": guide,
        "source": "the shop",
    }
    writes = [receipt for receipt in work.receipts if receipt.name == "set_field"]
    assert [receipt.status for receipt in writes] == [ReceiptStatus.FAILED, *[ReceiptStatus.OK] * 4]
    assert f"no page that was read shows the address '{guide}s'; the nearest that one did is {guide}" in writes[0].text
    sources = outcome.provenance
    assert {
        pointer: source["url"] for pointer, source in sources.items() if source["status"] == "read"
    } == dict.fromkeys(["/name", "/material", "/weight", "/guideUrl"], page)
    assert "5 kg" in sources["/weight"]["quote"]
    assert sources["/weight"]["step"] == 2
    assert (work.folder / sources["/weight"]["screenshot"]).exists()
    assert ("schema_seeded", "The answer begins with the schema's own values for source.") in {
        (notice.code, notice.text) for notice in work.of(Notice)
    }


def test_only_what_a_page_says_is_read_from_the_lines_of_an_observation():
    assert read_line("*[12]<a href=/wares/12>Ware") == "Ware"
    assert read_line('[3]<input type=number value="7 pieces" min=1 focused at=100,200>Amount') == "7 pieces Amount"
    assert read_line("[9]<option chosen=Red>Colour > all") == "Red Colour > all"
    assert read_line("3 < 4 and [5]") == "3 < 4 and [5]"
    assert read_line("… 30 more lines below") == ""
