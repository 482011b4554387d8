"""Pages of a wanted size, for benchmarks and tests of large documents."""


def rows_page(nodes: int) -> str:
    """Return a page of about `nodes` elements: rows of ten with a link, a button, a field and texts."""
    rows = "".join(
        f'<div class="row"><a href="/item/{number}">Item {number}</a><button type="button">Buy {number}</button>'
        f'<label for="f{number}">Amount {number}</label><input id="f{number}" value="{number}">'
        f"<b>Bold {number}</b><p>Text of row {number} with a <i>few</i> words</p><span>left</span><em>right</em></div>"
        for number in range(1, max(1, nodes // 10) + 1)
    )
    return (
        "<!doctype html><html><head><title>Rows</title><style>.row{display:flex;gap:6px}</style></head>"
        f"<body><h1>Rows</h1>{rows}</body></html>"
    )
