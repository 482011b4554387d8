import json
from typing import Any

import pytest
from pydantic import AnyUrl, BaseModel, Field

from appliance.content import Content
from appliance.store.facts import gather_facts
from appliance.store.fields import read_fields
from appliance.store.filling import fill_fields
from appliance.store.schema import AnswerSchema

LAMP = Content(
    url="http://127.0.0.1:8420/demo/lamps/arc?ref=1",
    title="Arc floor lamp – Lumen & Co",
    markdown="# Arc floor lamp\n\nA lamp that bends.\n",
    linked_data=(
        {"@context": "https://schema.org", "@type": "BreadcrumbList", "name": "You are here"},
        {"@type": "Organization", "name": "Lumen & Co", "url": "http://127.0.0.1:8420/", "telephone": "+49 30 1234"},
        {
            "@context": "https://schema.org",
            "@type": "Product",
            "name": "Arc floor lamp",
            "sku": "LMP-0042",
            "gtin13": "4006381333931",
            "description": "Bends &amp; shines.",
            "brand": {"@type": "Brand", "name": "Halden"},
            "image": ["/images/arc.jpg", "/images/arc-2.jpg"],
            "color": "Black",
            "depth": {"@type": "QuantitativeValue", "value": "31.5", "unitCode": "CMT"},
            "releaseDate": "2026-03-12",
            "offers": {
                "@type": "Offer",
                "price": "1249.50",
                "priceCurrency": "EUR",
                "availability": "https://schema.org/InStock",
                "url": "/demo/lamps/arc",
                "seller": {"@type": "Organization", "name": "Somebody else"},
            },
            "aggregateRating": {"@type": "AggregateRating", "ratingValue": 4.5, "reviewCount": "1204"},
            "review": [{"@type": "Review", "reviewRating": {"ratingValue": 1}, "author": {"name": "Angry"}}],
            "additionalProperty": [{"@type": "PropertyValue", "name": "Bulb socket", "value": "E27"}],
        },
    ),
    meta=(("og:title", "Arc"), ("description", "Meta words"), ("keywords", "lamp, floor ,arc")),
    labelled=(
        ("Height", "182 cm"),
        ("Weight:", "8,4 kg"),
        ("Materials", "Steel, marble"),
        ("Dimmable", "Yes"),
        ("Warranty", "2 years"),
        ("Power", "10–20 W"),
        ("Delivery", "Monday"),
        ("Delivery", "Tuesday"),
    ),
)  # fmt: skip


def fill(schema: dict[str, Any], content: Content = LAMP) -> dict[str, Any]:
    filled = fill_fields(read_fields(AnswerSchema.read(schema).fields), gather_facts(content), content.url)
    return {name: one.value for name, one in filled.items()}


def value_of(name: str, part: dict[str, Any], content: Content = LAMP) -> Any:
    return fill({"type": "object", "properties": {name: part}}, content).get(name)


TEXT, NUMBER, INTEGER, TRUTH = ({"type": kind} for kind in ("string", "number", "integer", "boolean"))
TEXTS = {"type": "array", "items": {"type": "string"}}


@pytest.mark.parametrize(
    ("name", "part", "value"),
    [
        ("name", TEXT, "Arc floor lamp"),
        ("title", TEXT, "Arc floor lamp"),
        ("productName", TEXT, "Arc floor lamp"),
        ("page_title", TEXT, "Arc floor lamp – Lumen & Co"),
        ("sku", TEXT, "LMP-0042"),
        ("SKU", TEXT, "LMP-0042"),
        ("brand", TEXT, "Halden"),
        ("manufacturer", TEXT, "Halden"),
        ("price", NUMBER, 1249.5),
        ("price_eur", NUMBER, 1249.5),
        ("priceInEur", NUMBER, 1249.5),
        ("price_usd", NUMBER, None),
        ("price", TEXT, "1249.50"),
        ("price", INTEGER, None),
        ("currency", TEXT, "EUR"),
        ("description", TEXT, "Bends & shines."),
        ("availability", TEXT, "InStock"),
        ("in_stock", TRUTH, True),
        ("availability", {"enum": ["in stock", "out of stock"]}, "in stock"),
        ("availability", {"type": "string", "enum": ["now", "never"]}, None),
        ("rating", NUMBER, 4.5),
        ("review_count", INTEGER, 1204),
        ("numberOfReviews", INTEGER, 1204),
        ("image", {"type": "string", "format": "uri"}, "http://127.0.0.1:8420/images/arc.jpg"),
        ("images", TEXTS, ["/images/arc.jpg", "/images/arc-2.jpg"]),
        ("url", {"type": "string", "format": "uri"}, LAMP.url),
        ("colour", TEXT, "Black"),
        ("release_date", {"type": "string", "format": "date"}, "2026-03-12"),
        ("release_date", {"type": "string", "format": "date-time"}, None),
        ("gtin", TEXT, "4006381333931"),
        ("bulb_socket", TEXT, "E27"),
        ("depth", NUMBER, 31.5),
        ("depth_cm", NUMBER, 31.5),
        ("depth_in_mm", NUMBER, None),
        ("depth", TEXT, "31.5 cm"),
        ("height", TEXT, "182 cm"),
        ("height_cm", NUMBER, 182),
        ("height_mm", NUMBER, None),
        ("weight", NUMBER, 8.4),
        ("weightKg", NUMBER, 8.4),
        ("materials", TEXTS, ["Steel", "marble"]),
        ("material", TEXTS, ["Steel", "marble"]),
        ("dimmable", TRUTH, True),
        ("tags", TEXTS, ["lamp", "floor", "arc"]),
        ("power", NUMBER, None),
        ("delivery", TEXT, None),
        ("author", TEXT, None),
        ("seller", TEXT, None),
        ("discount", NUMBER, None),
        ("price_min", NUMBER, None),
        ("rating", {"type": "number", "maximum": 4}, None),
        ("sku", {"type": "string", "pattern": "^[A-Z]{3}-\\d{4}$"}, "LMP-0042"),
        ("sku", {"type": "string", "pattern": "^\\d+$"}, None),
    ],
)  # fmt: skip
def test_a_field_gets_what_the_page_states_under_its_name_or_nothing(name: str, part: dict[str, Any], value: Any):
    assert value_of(name, part) == value


@pytest.mark.parametrize(
    ("description", "kind", "value"),
    [
        ("Price in euros", NUMBER, 1249.5),
        ("The brand of the product.", TEXT, "Halden"),
        ("Number of reviews", INTEGER, 1204),
        ("Dimmable, or not", TRUTH, True),
        ("Discount on the list price", NUMBER, None),
        ("Price of shipping", NUMBER, None),
        ("Name of the author", TEXT, None),
        ("How much it is, roughly", NUMBER, None),
    ],
)
def test_the_head_of_a_description_counts_where_the_name_says_nothing(description: str, kind: Any, value: Any):
    assert value_of("x1", {**kind, "description": description}) == value


class Size(BaseModel):
    height: float


class Lamp(BaseModel):
    name: str
    price: float
    brand: str | None
    designer: str | None = None
    link: AnyUrl
    size: Size | None = None
    tags: list[str] = Field(default_factory=list)


def test_the_schema_of_a_pydantic_model_is_filled_and_what_is_unknown_is_left_out():
    filled = fill(Lamp.model_json_schema())
    assert filled == {
        "name": "Arc floor lamp",
        "price": 1249.5,
        "brand": "Halden",
        "link": LAMP.url,
        "tags": ["lamp", "floor", "arc"],
    }
    Lamp.model_validate_json(json.dumps(filled))


def test_shared_definitions_and_unions_are_followed():
    schema = {
        "$ref": "#/$defs/Lamp",
        "$defs": {
            "Stock": {"type": "string", "enum": ["InStock", "OutOfStock"]},
            "Lamp": {
                "type": "object",
                "properties": {
                    "availability": {"$ref": "#/$defs/Stock"},
                    "sku": {"oneOf": [{"type": "null"}, {"type": "string"}]},
                    "rating": {"type": ["number", "null"]},
                    "brand": {"allOf": [{"type": "string"}]},
                },
            },
        },
    }
    assert fill(schema) == {"availability": "InStock", "sku": "LMP-0042", "rating": 4.5, "brand": "Halden"}


def test_a_list_of_offers_counts_only_where_all_agree():
    offers = [{"price": 10, "priceCurrency": "EUR"}, {"price": 12, "priceCurrency": "EUR"}]
    page = Content("http://x/", "x", "", ({"@type": "Product", "name": "X", "offers": offers},))
    assert value_of("price", NUMBER, page) is None
    assert value_of("currency", TEXT, page) == "EUR"


def test_one_of_many_entities_counts_only_if_the_page_names_it():
    lamps = tuple({"@type": "Product", "name": name, "sku": name[0]} for name in ("Arc", "Bow", "Cone"))
    listing = Content("http://x/", "All lamps", "# All lamps\n", lamps)
    assert value_of("sku", TEXT, listing) is None
    assert value_of("name", TEXT, listing) == "All lamps"
    assert value_of("sku", TEXT, Content("http://x/bow", "Bow – lamps", "", lamps)) == "B"


def test_an_article_is_read_from_its_graph_and_its_tags():
    page = Content(
        "https://news.test/a",
        "A day | News",
        "# A day\n",
        (
            {
                "@graph": [
                    {"@type": "WebSite", "name": "News"},
                    {
                        "@type": ["NewsArticle"],
                        "headline": "A day",
                        "author": [{"name": "Ann"}, {"name": "Bob"}],
                        "datePublished": "2026-03-12T08:00:00+01:00",
                        "publisher": {"name": "The News"},
                    },
                ]
            },
        ),
        (("article:section", "Weather"),),
    )
    assert value_of("authors", TEXTS, page) == ["Ann", "Bob"]
    assert value_of("author", TEXT, page) == "Ann, Bob"
    assert value_of("title", TEXT, page) == "A day"
    assert value_of("publisher", TEXT, page) == "The News"
    assert value_of("category", TEXT, page) == "Weather"
    assert value_of("published_at", {"type": "string", "format": "date-time"}, page) == "2026-03-12T08:00:00+01:00"
    assert value_of("date", {"type": "string", "format": "date"}, page) == "2026-03-12"


def test_a_page_with_labels_only_is_read_by_its_labels():
    page = Content("http://x/", "", "", labelled=(("Price", "€ 1.234,50"), ("Product name", "Bow"), ("SKU", "B-1")))
    assert value_of("price", NUMBER, page) == 1234.5
    assert value_of("price_eur", NUMBER, page) == 1234.5
    assert value_of("currency", TEXT, page) == "EUR"
    assert value_of("name", TEXT, page) == "Bow"
    assert value_of("sku", TEXT, page) == "B-1"
