"""Pages of a wanted size, for benchmarks and tests of large documents, and a small PDF."""


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


def code_of(number: int) -> str:
    """Return the code that the page of an item shows, and no other page."""
    return f"K{number * 7919 % 10_000:04}"


def shelf_page(number: int) -> str:
    """Return the page of an item: its code among other text, and the way to the next one."""
    filler = "".join(f"<p>Paragraph {line} on item {number} is of no importance at all.</p>" for line in range(30))
    return (
        f"<!doctype html><html><head><title>Item {number}</title></head><body><h1>Item {number}</h1>"
        f'<p>Code of item {number}: {code_of(number)}</p><a href="/shelf?item={number + 1}">Next item</a>'
        f"{filler}</body></html>"
    )


def pdf(text: str) -> bytes:
    """Return a PDF of one page that says `text` (ASCII without brackets)."""
    stream = f"BT /F1 24 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    data, places = b"%PDF-1.4\n", list[int]()
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return data + end % (len(objects) + 1, table, len(objects) + 1, len(data))
