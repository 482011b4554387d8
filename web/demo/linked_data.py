"""What a page of the demonstration shop states about itself for programs: a JSON-LD block of schema.org's words."""

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from web.demo.catalogue import Ware

_SCHEMA = "https://schema.org"


def write_linked_data(ware: Ware) -> Markup:
    """Return the element that states the article as a schema.org Product; a browser runs nothing of it."""
    stated = {
        "@context": _SCHEMA,
        "@type": "Product",
        "name": ware.name,
        "sku": ware.sku,
        "description": ware.text,
        "brand": {"@type": "Brand", "name": ware.maker},
        "offers": {
            "@type": "Offer",
            "price": str(ware.price),
            "priceCurrency": "EUR",
            "availability": f"{_SCHEMA}/{'InStock' if ware.stock else 'OutOfStock'}",
        },
    }
    return Markup('<script type="application/ld+json">{}</script>').format(htmlsafe_json_dumps(stated))
