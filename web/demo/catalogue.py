"""The goods of the demonstration shop: a chandlery with a dozen things for a boat."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal


@dataclass(frozen=True)
class Ware:
    """One article; `weight` in kilograms, `price` in euros, `slug` its name in addresses."""

    slug: str
    name: str
    maker: str
    sku: str
    price: Decimal
    weight: Decimal
    stock: int
    since: date
    text: str


WARES = (
    Ware(
        "brass-anchor-lamp", "Brass anchor lamp", "Halvorsen & Lind", "HL-1904", Decimal("128.50"), Decimal("1.4"), 7,
        date(2025, 3, 14), "An all-round white light with a fresnel lens, for the night at anchor.",
    ),
    Ware(
        "bearing-compass", "Hand bearing compass", "Nordvik", "NV-0071", Decimal("89.00"), Decimal("0.12"), 23,
        date(2024, 9, 2), "Takes a bearing to within one degree and glows for eight hours after a minute of light.",
    ),
    Ware(
        "ships-bell", "Ship's bell, 15 cm", "Halvorsen & Lind", "HL-2210", Decimal("74.90"), Decimal("1.1"), 4,
        date(2023, 11, 20), "Cast brass with a plaited lanyard; one stroke for each half hour of the watch.",
    ),
    Ware(
        "aneroid-barometer", "Aneroid barometer", "Weerglas", "WG-330", Decimal("142.00"), Decimal("0.9"), 2,
        date(2025, 6, 30), "A falling needle gives a day's warning; the second hand remembers where it stood.",
    ),
    Ware(
        "sounding-lead", "Sounding lead, 3 kg", "Tideline", "TL-5003", Decimal("36.40"), Decimal("3.0"), 15,
        date(2024, 4, 8), "A hollow foot for tallow, so that it brings up what the bottom is made of.",
    ),
    Ware(
        "signal-flags", "Set of signal flags", "Tideline", "TL-0040", Decimal("212.00"), Decimal("2.6"), 0,
        date(2022, 5, 1), "Forty flags of the international code, sewn, with toggles.",
    ),
)  # fmt: skip


def find_ware(slug: str) -> Ware | None:
    """Return the article with this slug."""
    return next((ware for ware in WARES if ware.slug == slug), None)
