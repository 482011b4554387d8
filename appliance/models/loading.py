"""Loading of the vendors' clients, which are large, on one thread beside the server's own work.

Anthropic's takes 1.0–1.3 s of processor time and 49 MB, OpenAI's 0.4 s and 14 MB.
"""

import gc
import ssl
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType

from appliance.models.catalog import Provider

_MODULES: dict[Provider, tuple[str, ...]] = {
    "anthropic": ("anthropic", "anthropic.resources.messages"),
    "openai": ("openai", "openai.resources.responses"),
    "compatible": ("openai", "openai.resources.chat.completions"),
}
"""The vendor's package first, then what its client would import at the first request."""

_THREAD = ThreadPoolExecutor(1, thread_name_prefix="load-client")
"""One, so that several clients load one after the other instead of crowding out the thread that answers requests."""


@dataclass(frozen=True)
class Kit:
    """What a model needs of its vendor: the package, the HTTP library under it, and the certificates to trust."""

    sdk: ModuleType
    transport: ModuleType
    tls: ssl.SSLContext


@cache
def load_kit(provider: Provider) -> Future[Kit]:
    """Begin to load a provider's client, once in the life of the process, and return what will hold it."""
    return _THREAD.submit(_load, provider)


def _load(provider: Provider) -> Kit:
    # The thousands of classes stay for good: looking for garbage among them stalls every thread, now and later.
    gc.disable()
    try:
        sdk, *_ = [import_module(name) for name in _MODULES[provider]]
        transport = import_module("httpx2")
        return Kit(sdk, transport, _trusted(transport))
    finally:
        gc.freeze()
        gc.enable()


@cache
def _trusted(transport: ModuleType) -> ssl.SSLContext:
    """Return the certificates, read once: each reading takes 25 ms, which every run would pay anew."""
    return transport.create_ssl_context()
