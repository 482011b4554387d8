"""What scripts have the server do: the browser, the agent's files, and actions, which keep their own rules.

Whatever a script is told has the secrets taken out, and what it reads of pages counts as read.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import nullcontext, suppress
from typing import Any

from pydantic import ValidationError

from appliance.actions.answers import STORE_ACTIONS
from appliance.actions.base import Action, ActionContext, Parameters
from appliance.actions.bulk import READ_PAGES, ReadPages
from appliance.actions.clipboard import RECALL, REMEMBER
from appliance.actions.code import DEADLINE_SECONDS, as_expression, run_in_page
from appliance.actions.evidence import keep_read_at, texts_beyond
from appliance.actions.files import read_text
from appliance.actions.http import HttpFetch, keep_bytes, request
from appliance.actions.mirror import mirror
from appliance.actions.page_files import PAGES_FILE
from appliance.browser.cdp import CdpError
from appliance.browser.documents import html_of
from appliance.browser.frames import ScriptFailed
from appliance.browser.own_world import Document, documents_of, run_in_own_world
from appliance.errors import ActionFailed
from appliance.words import ReceiptStatus
from appliance.workspaces.sandbox import Functions

ACTIONS: tuple[Action[Any], ...] = (REMEMBER, RECALL, *STORE_ACTIONS)
"""Actions that are functions of a script's namespace, by their own names."""
FRAME_POLL = 0.3
"""Seconds after which frames of other processes are looked at again: they report nothing to their page."""
MAX_WAIT = 60.0
_TEXT = "() => eyes.dom.innerText(document.documentElement) || ''"


class _Code(Parameters):
    code: str


class _Frame(Parameters):
    frame: str


class _FrameCode(Parameters):
    frame: str
    code: str


class _FrameWait(Parameters):
    frame: str
    seconds: float = 10.0


class _Address(Parameters):
    url: str


class _Name(Parameters):
    name: str


class _Writing(Parameters):
    name: str
    text: str
    append: bool = False


class _Nothing(Parameters):
    pass


class ScriptCalls:
    """Does what the scripts of a run ask for. `has_touched` says whether one of them has acted on the browser."""

    def __init__(self, context: ActionContext) -> None:
        self.has_touched = False
        self._context = context
        self._turn = asyncio.Lock()
        self._actions = {one.name: one for one in ACTIONS if one.needs is None or one.needs(context)}
        self._own: dict[str, tuple[type[Parameters], Callable[[Any], Awaitable[Any]]]] = {
            "browser.evaluate": (_Code, self._evaluate),
            "browser.get_html": (_Nothing, self._get_html),
            "browser.url": (_Nothing, self._url),
            "browser.frames": (_Nothing, self._frames),
            "browser.frame_text": (_Frame, self._frame_text),
            "browser.frame_jsonld": (_Frame, self._frame_jsonld),
            "browser.frame_evaluate": (_FrameCode, self._frame_evaluate),
            "browser.wait_for_frame": (_FrameWait, self._wait_for_frame),
            "browser.navigate": (_Address, self._navigate),
            "browser.read_pages": (ReadPages, self._read_pages),
            "fetch": (HttpFetch, self._fetch),
            "read_file": (_Name, self._read_file),
            "write_file": (_Writing, self._write_file),
            "list_files": (_Nothing, self._list_files),
        }

    @property
    def functions(self) -> Functions:
        """What a sandbox is given."""
        names = {
            name: tuple(field.alias or key for key, field in action.parameters.model_fields.items())
            for name, action in self._actions.items()
        }
        return Functions(names, self._call)

    async def _call(self, name: str, arguments: dict[str, Any]) -> Any:
        """Do one thing; raises ActionFailed for whatever a script can be told, BrowserLost and RunEnding."""
        # There is one browser; only requests go beside each other.
        turn = nullcontext() if name == "fetch" else self._turn
        try:
            async with turn:
                await self._context.pause.wait()
                return self._context.sensitive.redact_all(await self._do(name, arguments))
        except ActionFailed as error:
            # A page may say in an error what it says nowhere else.
            raise ActionFailed(self._context.sensitive.redact(error.message)) from error
        except ValidationError as error:
            raise ActionFailed(f"{name}: {_defects(error)}.") from error
        except CdpError as error:
            raise ActionFailed("The page went away meanwhile.") from error
        except TimeoutError as error:
            raise ActionFailed(f"{name} took too long and was given up.") from error

    async def _do(self, name: str, arguments: dict[str, Any]) -> Any:
        if name in self._actions:
            return await self._act(self._actions[name], arguments)
        if name not in self._own:
            raise ActionFailed(f"There is no function {name[:100]!r} here.")
        parameters, do = self._own[name]
        return await do(parameters.model_validate(arguments))

    async def _act(self, action: Action[Any], arguments: dict[str, Any]) -> str:
        """Run an action as the model would and return what its receipt says; a failure is raised."""
        fields = action.parameters.model_fields
        optional = {field.alias or name for name, field in fields.items() if not field.is_required()}
        given = {name: value for name, value in arguments.items() if value is not None or name not in optional}
        parameters = action.parameters.model_validate(given)
        async with self._context.pause.timeout(action.deadline):
            receipt = await action.run(self._context, parameters)
        if receipt.status not in (ReceiptStatus.OK, ReceiptStatus.NO_EFFECT):
            raise ActionFailed(receipt.text)
        return receipt.carried or receipt.text

    async def _touch(self) -> None:
        """Take note that the page is worked with, which has to be in front for that."""
        self.has_touched = True
        await self._context.browser.code_tab.leave()

    async def _evaluate(self, parameters: _Code) -> Any:
        await self._touch()
        value = await run_in_page(self._context, parameters.code)
        keep_read_at(self._context, self._context.browser.tab.url, texts_beyond(value, parameters.code))
        return value

    async def _get_html(self, _: _Nothing) -> str:
        tab = self._context.browser.tab
        html = await html_of(tab)
        keep_read_at(self._context, tab.url, [html])
        return html

    async def _url(self, _: _Nothing) -> str:
        return self._context.browser.tab.url

    async def _frames(self, _: _Nothing) -> list[dict[str, str]]:
        return [{"url": document.url} for document in await self._inner()]

    async def _frame_text(self, parameters: _Frame) -> str:
        return await self._text_of(await self._find(parameters.frame))

    async def _frame_jsonld(self, parameters: _Frame) -> list[dict[str, Any]]:
        from appliance.browser.reader import read_html  # noqa: PLC0415 - heavy

        document = await self._find(parameters.frame)
        found = await self._context.browser.tab.run("() => eyes.html(true)", world=document.world)
        stated = (await asyncio.to_thread(read_html, str(found["html"]), document.url)).linked_data
        keep_read_at(self._context, document.url, [json.dumps(stated, ensure_ascii=False)])
        return list(stated)

    async def _frame_evaluate(self, parameters: _FrameCode) -> Any:
        document, code = await self._find(parameters.frame), parameters.code
        await self._touch()
        value = await self._in_frame(document, code)
        keep_read_at(self._context, document.url, texts_beyond(value, code))
        return value

    async def _in_frame(self, document: Document, code: str) -> Any:
        tab, world = self._context.browser.tab, document.world
        bodies = (f"return (\n{as_expression(code).rstrip().rstrip(';')}\n)", code)
        for number, body in enumerate(bodies):
            function = f"async function() {{\n{body}\n}}"
            try:
                return await run_in_own_world(tab, world, function, timeout=DEADLINE_SECONDS)
            except ScriptFailed as error:
                if number or "SyntaxError" not in error.message:
                    raise ActionFailed(f"The code failed in the frame: {error.message}") from error
        return None

    async def _wait_for_frame(self, parameters: _FrameWait) -> str:
        await self._context.browser.code_tab.leave()
        tab = self._context.browser.tab
        pause = self._context.pause
        end = pause.time() + min(max(parameters.seconds, 0.0), MAX_WAIT)
        while True:
            with suppress(ActionFailed, CdpError):
                document = await self._find(parameters.frame)
                if (await self._text_of(document)).strip():
                    return document.url
            left = end - pause.time()
            if left <= 0:
                await self._find(parameters.frame)
                raise ActionFailed(f"The frame {parameters.frame!r} shows no text.")
            await tab.activity.wait(min(left, FRAME_POLL))
            await pause.wait()

    async def _navigate(self, parameters: _Address) -> dict[str, Any]:
        await self._touch()
        navigation = await self._context.browser.tab.navigate(parameters.url)
        if navigation.error is not None:
            raise ActionFailed(f"{parameters.url} was not opened: {navigation.error}.")
        return {"url": navigation.to_url, "status": navigation.status}

    async def _read_pages(self, parameters: ReadPages) -> Any:
        """Read pages as the action does, and return the whole of what it keeps in a file."""
        await self._act(READ_PAGES, parameters.model_dump(exclude_none=True))
        return json.loads(self._context.scratchpad.read(PAGES_FILE))

    async def _fetch(self, parameters: HttpFetch) -> dict[str, Any]:
        answer = await request(self._context, parameters)
        fetched = answer.fetched
        return {
            "url": fetched.url,
            "status": fetched.status,
            "headers": dict(fetched.headers),
            "text": answer.text or "",
            "file": keep_bytes(self._context, answer) if answer.text is None else None,
        }

    async def _read_file(self, parameters: _Name) -> str:
        mirror(self._context)
        return read_text(self._context, parameters.name)[1]

    async def _write_file(self, parameters: _Writing) -> str:
        text = self._context.sensitive.redact(parameters.text)
        write = self._context.files.append if parameters.append else self._context.files.write
        return write(parameters.name, text).name

    async def _list_files(self, _: _Nothing) -> list[str]:
        mirror(self._context)
        return [entry.name for entry in self._context.files.listing()]

    async def _inner(self) -> list[Document]:
        return (await documents_of(self._context.browser.tab))[1:]

    async def _find(self, wanted: str) -> Document:
        """Return the frame whose address is, or else contains, what is wanted; raises ActionFailed."""
        frames = await self._inner()
        found = [frame for frame in frames if frame.url == wanted] or [frame for frame in frames if wanted in frame.url]
        if not found:
            there = ", ".join(frame.url[:120] for frame in frames[:20]) or "none"
            raise ActionFailed(f"There is no frame with {wanted!r} in its address; there are: {there}.")
        return found[0]

    async def _text_of(self, document: Document) -> str:
        text = str(await self._context.browser.tab.run(_TEXT, world=document.world))
        keep_read_at(self._context, document.url, [text])
        return text


def _defects(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(str(part) for part in item['loc']) or 'its value'}: {item['msg']}"
        for item in error.errors(include_url=False, include_context=False)
    )
