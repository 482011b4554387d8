"""The action that has the model read a page's whole text and answer a question about it."""

import asyncio
import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from pydantic import Field

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.actions.links import addresses_of, keep_known_links
from appliance.actions.merging import merge_answers
from appliance.actions.portions import Portion, Portions
from appliance.content import Content
from appliance.errors import ActionFailed, ContextOverflow, MoneySpent, RunFailed
from appliance.events import TokenCount
from appliance.fences import fence
from appliance.models.base import Message, ModelRequest, Purpose, Reply, Scene, Text
from appliance.store.evidence import Sighting
from appliance.words import ReceiptStatus

MAX_CHARACTERS = 100_000
"""Of a page that are given to the model at once."""
MOST_PORTIONS = 12
"""That are read in one call; the model goes on by another, if it still wants to."""
LASTING_CHARACTERS = 1_500
CHARACTERS_PER_TOKEN = 2
"""Half of what a token usually holds, so that a page takes half of a small window."""
FEWEST_CHARACTERS = 2_000
MODEL_SECONDS = 120.0
DEADLINE = 3 * MODEL_SECONDS + 90
HAND_OVER_SECONDS = 10.0
"""Kept back to hand over what was found, before the deadline strikes."""
ANSWERED = 1_500
"""Characters of the answer so far that the model is shown with the next part."""
MAX_ADDRESS, MAX_TITLE = 2_000, 300
NOTHING, COMPLETE = "<nothing/>", "<complete/>"

_PROMPTS = Path(__file__).with_name("prompts")
_LINK = re.compile(r"(!?)\[([^\]]{0,2000}+)\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)")


class Extract(Parameters):
    """Parameters of extract."""

    query: str = Field(min_length=1)
    extract_links: bool = False
    start_from_char: int = Field(0, ge=0)


@dataclass
class _Reading:
    """A page as far as it was read: `end` in characters of `size`, `stop` a clause on why not further."""

    content: Content
    query: str
    size: int
    start: int
    end: int
    answers: list[str] = field(default_factory=list[str])
    parts: int = 0
    silent: int = 0
    is_cut: bool = False
    is_complete: bool = False
    stop: str = ""
    file: str = ""
    last_tokens: TokenCount = field(default_factory=TokenCount)

    @property
    def answer(self) -> str:
        """The answers so far as one."""
        return merge_answers(self.answers) if self.answers else ""

    def take(self, reply: Reply, portion: Portion) -> None:
        """Add what the model said about a portion."""
        text = reply.text.strip()
        self.is_complete = text.endswith(COMPLETE) or reply.is_of_scene
        text = text.removesuffix(COMPLETE).strip()
        if text and text != NOTHING:
            self.answers.append(text)
        self.silent += not text
        self.is_cut = self.is_cut or reply.stop == "length"
        self.end = self.size if reply.is_of_scene else portion.end
        self.parts += 1


async def _extract(context: ActionContext, parameters: Extract) -> Receipt:
    began = context.pause.time()
    content = await context.browser.read_content()
    context.evidence.see(await asyncio.to_thread(_sighting, context, content))
    whole = content.markdown
    if not parameters.extract_links:
        whole = await asyncio.to_thread(_LINK.sub, _words_of_link, whole)
    start = parameters.start_from_char
    if start and start >= len(whole):
        raise ActionFailed(f"The page has {len(whole)} characters; start_from_char is beyond its end.")
    reading = _Reading(content, parameters.query, len(whole), start, start)
    await _read(context, reading, Portions(whole, start), began + DEADLINE - HAND_OVER_SECONDS)
    if reading.silent == reading.parts:
        raise ActionFailed("The model gave no answer about the page; ask more precisely.")
    return await _receipt(context, reading)


async def _read(context: ActionContext, reading: _Reading, portions: Portions, until: float) -> None:
    """Have portion after portion read, as long as there is time and money; what was found before stays."""
    room, slowest = _room(context.model.context_window), 0.0
    while not reading.parts or not (portions.is_at_end or reading.is_complete):
        left = until - context.pause.time()
        if reading.parts and (stop := _stop(context, reading, left, slowest)):
            reading.stop = stop
            return
        portion, began = portions.next(room), context.pause.time()
        request = _request(context, reading, portion)
        try:
            async with context.pause.timeout(left if reading.parts else None):
                reply = await context.model.ask(request)
        except ContextOverflow as error:
            room = min(room, len(portion.text)) // 2
            if room < FEWEST_CHARACTERS:
                text = "The page is too long for the model to be read by it; use search_page or look."
                raise ActionFailed(text) from error
            continue
        except (RunFailed, MoneySpent, TimeoutError) as fault:
            if not reading.parts:
                raise
            reading.stop = "the time was used up" if isinstance(fault, TimeoutError) else fault.message.rstrip(".")
            return
        slowest = max(slowest, context.pause.time() - began)
        reading.take(reply, portion)
        reading.last_tokens = reply.tokens
        portions.go_on(portion)
        if not portions.is_at_end and reading.answers:
            _save(context, reading)


def _stop(context: ActionContext, reading: _Reading, left: float, slowest: float) -> str:
    """Return in a clause why no further portion is to be read now, "" when nothing speaks against it."""
    if reading.parts >= MOST_PORTIONS:
        return f"{MOST_PORTIONS} parts are read at once"
    if left < 1.5 * slowest:
        return "the time was used up"
    return "" if context.affords(reading.last_tokens) else "what is left of time and money is kept for the answer"


async def _receipt(context: ActionContext, reading: _Reading) -> Receipt:
    lead = f"Read {reading.content.url}{_how_far(reading)}"
    if not reading.answers:
        return Receipt(ReceiptStatus.OK, f"{lead}: nothing there answers the query.")
    found, invented = await asyncio.to_thread(keep_known_links, reading.answer, reading.content)
    if invented:
        lead += f", {invented} address(es) in the answer that the page does not have taken out (ask with extract_links)"
    if reading.is_cut:
        lead += "; the answer was too long and is cut off, so ask for less at once"
    if reading.file or len(found) > LASTING_CHARACTERS:
        _save(context, reading, found)
        text = lasting = f"{lead}: {len(found)} characters of answer, kept in {reading.file}."
    else:
        text, lasting = f"{lead}: {len(found)} characters of answer.", f"{lead}:\n{found}"
    if reading.end < reading.size:
        found += f"\n\n({_how_far(reading).lstrip(', ')}.)"
    return Receipt(ReceiptStatus.OK, text, lasting=lasting, carried=found)


def _how_far(reading: _Reading) -> str:
    """Return in a clause which part of the page was read and how to go on, "" when it was all of it."""
    told = ""
    if reading.start or reading.end < reading.size:
        told = f", characters {reading.start} to {reading.end} of {reading.size}"
    if reading.parts > 1:
        told += f" in {reading.parts} parts"
    if reading.end >= reading.size:
        return told
    if reading.is_complete:
        return f"{told}, where the answer was complete"
    why = f", as {reading.stop}" if reading.stop else ""
    return f"{told}{why}; go on with start_from_char {reading.end}"


def _save(context: ActionContext, reading: _Reading, found: str = "") -> None:
    """Keep the answer in a file of its own, so that nothing of it is lost whatever happens next."""
    reading.file = reading.file or context.scratchpad.next_extract_name()
    context.scratchpad.write(reading.file, context.sensitive.redact(found or reading.answer))


def _request(context: ActionContext, reading: _Reading, portion: Portion) -> ModelRequest:
    content = reading.content
    is_part = portion.start > 0 or portion.end < reading.size
    parts = [f"<query>\n{fence(reading.query)}\n</query>"]
    if is_part and portion.before:
        parts.append(f"<before>\n{fence(portion.before)}\n</before>")
    if is_part and reading.answers:
        parts.append(f"<answered>\n{fence(reading.answers[-1][-ANSWERED:])}\n</answered>")
    where = f" characters='{portion.start}-{portion.end} of {reading.size}'" if is_part else ""
    address, title = fence(content.url[:MAX_ADDRESS]), fence(content.title[:MAX_TITLE])
    parts.append(f"<page address={address!r} title={title!r}{where}>\n{fence(portion.text)}\n</page>")
    return ModelRequest(
        purpose=Purpose.EXTRACT,
        system=_prompt("extract.md") + (_prompt("extract_part.md") if is_part else ""),
        messages=(Message("user", (Text("\n\n".join(parts)),)),),
        effort=context.effort,
        timeout=MODEL_SECONDS,
        scene=Scene(task=context.task, output_schema=context.output_schema, url=content.url, content=content),
    )


@cache
def _prompt(name: str) -> str:
    text = (_PROMPTS / name).read_text(encoding="utf-8")
    return text.replace("{nothing}", NOTHING).replace("{complete}", COMPLETE)


def _room(window: int | None) -> int:
    """Return how many characters of a page a model with a window of so many tokens is given at once."""
    return min(MAX_CHARACTERS, CHARACTERS_PER_TOKEN * window) if window else MAX_CHARACTERS


def _words_of_link(match: re.Match[str]) -> str:
    return match[0] if match[1] else match[2]


def _sighting(context: ActionContext, content: Content) -> Sighting:
    """Return what the page says, as it counts as read."""
    stated = (json.dumps(one, ensure_ascii=False) for one in content.linked_data)
    text = "\n".join((content.title, content.markdown, *stated))
    links = addresses_of(content)
    sighting = Sighting(content.url, text, datetime.now(UTC), links, context.step, context.screenshot)
    return context.sensitive.redact_all(sighting)


EXTRACT = Action(
    "extract",
    "Have the whole page read for a query, a long one part by part; long answers are kept in a "
    "file. extract_links keeps the addresses of links; start_from_char goes on in a long page.",
    Extract,
    _extract,
    deadline=DEADLINE,
)
