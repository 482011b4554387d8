"""Pages of a catalogue, for reading many of them: lists that grow and records that are stated in several ways."""

import json
from collections.abc import Callable
from html import escape
from typing import Any, Protocol

Query = dict[str, str]


class Answering(Protocol):
    """What a route answers with."""

    site: Any

    def answer(self, data: str | bytes, kind: str = ..., status: int = ..., **headers: str) -> None:
        """Send a whole answer."""
        ...


def page(title: str, body: str, head: str = "") -> str:
    """Return a document."""
    return f"<!doctype html><html><head><title>{escape(title)}</title>{head}</head><body>{body}</body></html>"


def entry(number: int) -> str:
    """Return the list entry of a record."""
    return f'<li><a href="/bulk/item?n={number}">Lamp {number}</a> <span>Brand {number % 5}</span></li>'


def record(number: int) -> dict[str, Any]:
    """Return what the page of a record states."""
    return {
        "name": f"Lamp {number}",
        "sku": f"L-{1000 + number}",
        "price": f"{19 + number}.90",
        "description": f"Lamp {number} has a folding arm and a weighted base, and gives {300 + number} lumens. "
        "The shade is spun from aluminium, and the joints of the arm are rated for ten thousand movements each.",
    }


def linked(number: int) -> dict[str, Any]:
    """Return the JSON-LD of a record."""
    stated = record(number)
    return {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": stated["name"],
        "sku": stated["sku"],
        "description": stated["description"],
        "offers": {"@type": "Offer", "price": stated["price"], "priceCurrency": "GBP"},
    }


def body_of(number: int) -> str:
    """Return what a person reads of a record."""
    stated = record(number)
    return (
        f"<h1>{stated['name']}</h1><p>{stated['description']}</p><dl><dt>Sku</dt><dd>{stated['sku']}</dd>"
        f'<dt>Price</dt><dd>{stated["price"]} GBP</dd></dl><p><a href="/bulk/list">All lamps</a></p>'
    )


def _list(handler: Answering, query: Query, body: bytes) -> None:
    """List `count` records at once; with `script`, one that does nothing; `tail` adds further entries as HTML."""
    count = int(query.get("count", "14"))
    entries = "".join(map(entry, range(1, count + 1))) + query.get("tail", "")
    script = "<script>window.ready = true</script>" if "script" in query else ""
    handler.answer(page("Lamps", f'<h1>Lamps</h1><ul id="list">{entries}</ul><a href="/bulk/about">About</a>{script}'))


def _more(handler: Answering, query: Query, body: bytes) -> None:
    """Answer with the entries `from` … `to` as HTML, after `seconds`."""
    handler.site.closing.wait(float(query.get("seconds", "0")))
    handler.answer("".join(map(entry, range(int(query["from"]), int(query["to"]) + 1))))


GROWING = """
<style>li { height: 60px }</style><h1>Lamps</h1><ul id="list">%(entries)s</ul><p id="end">…</p>
<script>
let known = %(per)d, busy = false;
const more = async () => {
  if (busy || known >= %(count)d) return;
  busy = true;
  const answer = await fetch(`/bulk/more?from=${known + 1}&to=${known + %(per)d}&seconds=%(seconds)s`);
  list.insertAdjacentHTML("beforeend", await answer.text());
  known += %(per)d;
  busy = false;
};
%(how)s
</script>
"""
HOW = {
    "observer": "new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && more()).observe(end);"
    "setInterval(() => { if (end.getBoundingClientRect().top < innerHeight) more(); }, 100);",
    "scroll": "let waiting; addEventListener('scroll', () => { clearTimeout(waiting); waiting = setTimeout(() => {"
    "if (scrollY + innerHeight > document.body.scrollHeight - 200) more(); }, 150); });",
}


def _growing(handler: Answering, query: Query, body: bytes) -> None:
    """List `count` records, `per` at a time as it is scrolled: `how` is observer or scroll (which waits a moment)."""
    per = int(query.get("per", "10"))
    values = {
        "entries": "".join(map(entry, range(1, per + 1))),
        "per": per,
        "count": int(query.get("count", "40")),
        "seconds": query.get("seconds", "0"),
        "how": HOW[query.get("how", "observer")],
    }
    handler.answer(page("Growing", GROWING % values))


LAZY = """
<style>li { height: 150px }</style><h1>Lamps</h1><ul>%s</ul>
<script>
const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (isIntersecting && !target.firstChild)
      target.innerHTML = `<a href="/bulk/item?n=${target.dataset.n}">Lamp ${target.dataset.n}</a>`;
  }
});
for (const one of document.querySelectorAll("li")) seen.observe(one);
</script>
"""


def _lazy(handler: Answering, query: Query, body: bytes) -> None:
    """List `count` records, each of which gets its link when it comes into view."""
    count = int(query.get("count", "30"))
    handler.answer(page("Lazy", LAZY % "".join(f"<li data-n={number}></li>" for number in range(1, count + 1))))


WINDOW = """
<h1>Lamps</h1>
<div id="area" style="height: 300px; overflow-y: auto"><div id="inner" style="position: relative"></div></div>
<script>
const count = %d, row = 50;
inner.style.height = `${count * row}px`;
const draw = () => {
  const first = Math.floor(area.scrollTop / row);
  inner.innerHTML = "";
  for (let at = first; at < Math.min(count, first + 8); at += 1)
    inner.insertAdjacentHTML("beforeend", `<p style="position: absolute; top: ${at * row}px; margin: 0">
      <a href="/bulk/item?n=${at + 1}">Lamp ${at + 1}</a></p>`);
};
area.addEventListener("scroll", draw);
draw();
</script>
"""


def _window(handler: Answering, query: Query, body: bytes) -> None:
    """List `count` records in an area that keeps only those in view."""
    handler.answer(page("Window", WINDOW % int(query.get("count", "40"))))


def _panel(handler: Answering, query: Query, body: bytes) -> None:
    """Show a page of another host, at `path`, in a panel; `seconds` later if given."""
    port = handler.site.port
    source = f"http://127.0.0.2:{port}{query['path']}"
    frame = f'<iframe src="{escape(source)}" width="700" height="400"></iframe>'
    text = f"<h1>Vacancies</h1><p>{query.get('text', 'The list of our partner is shown below.')}</p>"
    if "seconds" in query:
        add = f"document.body.insertAdjacentHTML('beforeend', {json.dumps(frame)})"
        handler.answer(
            page("Vacancies", f"{text}<script>setTimeout(() => {add}, {float(query['seconds']) * 1000})</script>")
        )
        return
    handler.answer(page("Vacancies", text + frame))


def _item(handler: Answering, query: Query, body: bytes) -> None:
    """Show record `n`; JSON-LD stands on the pages of even numbers, or on all with `ld=all`; `malformed` breaks one."""
    number = int(query["n"])
    has_linked = number % 2 == 0 or query.get("ld") == "all"
    blocks = [json.dumps(linked(number))] if has_linked else []
    if "malformed" in query:
        blocks.insert(0, '{"@type": "Organization", "name": "Shop" "sku": }')
    head = "".join(f'<script type="application/ld+json">{block}</script>' for block in blocks)
    handler.answer(page(f"Lamp {number}", body_of(number), head))


def _late(handler: Answering, query: Query, body: bytes) -> None:
    """Show record `n` only after `seconds` of work, and its JSON-LD later still with `ld`."""
    number, seconds = int(query["n"]), float(query.get("seconds", "0.5"))
    script = f"setTimeout(() => {{ document.body.innerHTML = {json.dumps(body_of(number))} }}, {seconds * 1000});"
    if "ld" in query:
        script += (
            "setTimeout(() => { const block = document.createElement('script'); block.type = 'application/ld+json';"
            f"block.textContent = {json.dumps(json.dumps(linked(number)))}; document.head.append(block); }},"
            f" {seconds * 1000 + 700});"
        )
    handler.answer(page(f"Lamp {number}", "<p>Loading…</p>", f"<script>{script}</script>"))


def _shell(handler: Answering, query: Query, body: bytes) -> None:
    """Show the same long text for every `n`, and what differs in a panel of another host."""
    text = "Our partner runs this board. " * 80
    source = f"http://127.0.0.2:{handler.site.port}/bulk/item?n={query['n']}&ld=all"
    handler.answer(page("Board", f"<p>{text}</p><iframe src='{source}' width=700 height=400></iframe>"))


def _empty(handler: Answering, query: Query, body: bytes) -> None:
    """Show nothing at all, ever."""
    handler.answer(page("", "<div id=root></div><script>window.started = true</script>"))


def _alerting(handler: Answering, query: Query, body: bytes) -> None:
    """Open a dialog before anything is shown."""
    handler.answer(page("Alert", "<script>alert('Cookies!')</script>" + body_of(int(query.get("n", "1")))))


def _huge(handler: Answering, query: Query, body: bytes) -> None:
    """Show about `megabytes` of text."""
    paragraph = f"<p>{'word ' * 200}</p>"
    count = int(float(query.get("megabytes", "10")) * 1_000_000 / len(paragraph))
    handler.answer(page("Huge", "<h1>The beginning</h1>" + paragraph * count))


def _leading(handler: Answering, query: Query, _: bytes) -> None:
    """A page whose script leads on to another address."""
    handler.answer(page("Lamp", body_of(1), f"<script>location.replace({json.dumps(query['to'])})</script>"))


def _reloading(handler: Answering, query: Query, _: bytes) -> None:
    """A page that loads itself anew as long as it is open."""
    script = "<script>setTimeout(() => location.reload(), 20)</script>"
    handler.answer(page(f"Lamp {query['n']}", body_of(int(query["n"])), script))


BULK_ROUTES: dict[str, Callable[[Any, Query, bytes], None]] = {
    "/bulk/list": _list,
    "/bulk/more": _more,
    "/bulk/growing": _growing,
    "/bulk/lazy": _lazy,
    "/bulk/window": _window,
    "/bulk/panel": _panel,
    "/bulk/item": _item,
    "/bulk/late": _late,
    "/bulk/shell": _shell,
    "/bulk/empty": _empty,
    "/bulk/alerting": _alerting,
    "/bulk/huge": _huge,
    "/bulk/leading": _leading,
    "/bulk/reloading": _reloading,
}
