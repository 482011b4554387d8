"""What the product means by a model: something that is asked with a request and answers with a reply."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, Protocol

from appliance.content import Content
from appliance.events import TokenCount
from appliance.store.links import Links
from appliance.words import Effort

if TYPE_CHECKING:
    from appliance.store.coverage import Coverage

OnText = Callable[[str], Awaitable[None]]
"""Called with each piece of a reply's text as it is written."""


class Purpose(StrEnum):
    """What a request is for; adapters treat all alike, the keyless model does not."""

    STEP = "step"
    EXTRACT = "extract"
    GOAL = "goal"
    COMPACTION = "compaction"
    REVIEW = "review"


@dataclass(frozen=True)
class Text:
    """A piece of text; `ends_prefix` marks the last byte that the next request will repeat."""

    text: str
    ends_prefix: bool = False


@dataclass(frozen=True)
class Image:
    """A picture, encoded."""

    data: bytes
    media_type: str = "image/jpeg"


@dataclass(frozen=True)
class Message:
    """One turn of the conversation."""

    role: Literal["user", "assistant"]
    parts: tuple[Text | Image, ...]


@dataclass(frozen=True)
class ReplyShape:
    """The JSON object a reply must be; `schema` is a JSON Schema of type object.

    `outline` is a shorter schema that a model is shown instead where the prompt tells the rest; servers that hold a
    reply to a grammar are given the whole one.
    """

    name: str
    description: str
    schema: dict[str, Any]
    outline: dict[str, Any] | None = None

    @property
    def shown(self) -> dict[str, Any]:
        """The schema that the model reads."""
        return self.schema if self.outline is None else self.outline

    @property
    def size(self) -> int:
        """The characters of the shape as the model reads it."""
        return len(self.description) + len(json.dumps(self.shown, ensure_ascii=False, separators=(",", ":")))


@dataclass(frozen=True)
class Scene:
    """The facts behind a request in typed form, for a model that plans without reading prose.

    `carried` is the full text that the last action handed over, if any; `content` is set for Purpose.EXTRACT. `lines`
    are those of the observation, with the numbers of its elements. `last` are the actions of the step before: name,
    status and what its receipt says. `links` are those found and read so far, `coverage` is what the answer has and
    lacks, None without a schema. `max_steps` is how many steps the run may take, `only_done` says that an answer alone
    is accepted now.
    """

    task: str
    output_schema: dict[str, Any] | None = None
    url: str = ""
    step: int = 1
    carried: str | None = None
    content: Content | None = None
    lines: tuple[str, ...] = ()
    last: tuple[tuple[str, str, str], ...] = ()
    links: Links | None = None
    coverage: "Coverage | None" = None
    max_steps: int = 100
    only_done: bool = False


@dataclass(frozen=True)
class ModelRequest:
    """One question to a model. Without a shape the reply is free text; the time limit is in seconds."""

    purpose: Purpose
    system: str
    messages: tuple[Message, ...]
    shape: ReplyShape | None = None
    effort: Effort | None = None
    max_output_tokens: int = 16_000
    timeout: float = 180.0
    scene: Scene | None = None


@dataclass(frozen=True)
class Reply:
    """A model's answer; `text` is JSON when the request had a shape.

    `model_name` is what the server says answered. `is_of_scene` says that it was made of the request's scene and not of
    its words.
    """

    text: str
    tokens: TokenCount
    model_name: str
    stop: Literal["end", "length", "refusal"] = "end"
    warnings: tuple[str, ...] = field(default=())
    is_of_scene: bool = False


class Model(Protocol):
    """A model that can be asked.

    Adapters raise RunFailed with a failure kind when the provider does not answer, and ContextOverflow when it refuses
    a request as longer than the model's window, which is `context_window` tokens, None when unknown.
    """

    name: str
    context_window: int | None

    @property
    def sees_images(self) -> bool:
        """Whether pictures are of use to it; a server may be found to take none while it is asked."""
        ...

    @property
    def compacts_itself(self) -> bool:
        """Whether the provider shortens long conversations on its side."""
        ...

    def slowness(self, effort: Effort | None) -> float:
        """Return how many times the usual time a call of this effort may take; 1 or more."""
        ...

    async def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        """Return the reply; with `on_text` the reply is streamed to it while it is written."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class ModelAround:
    """What a model that stands around another leaves as it is; subclasses say what asking means."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name = model.name
        self.context_window = model.context_window

    @property
    def sees_images(self) -> bool:
        """Whether pictures are of use to the model."""
        return self._model.sees_images

    @property
    def compacts_itself(self) -> bool:
        """Whether the provider shortens long conversations on its side."""
        return self._model.compacts_itself

    def slowness(self, effort: Effort | None) -> float:
        """Return how many times the usual time a call of this effort may take."""
        return self._model.slowness(effort)

    async def close(self) -> None:
        """Let go of the model's connections."""
        await self._model.close()
