"""Loading of heavy modules on threads of their own, so that they are there when the first step needs them."""

from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from importlib import import_module
from types import ModuleType


@cache
def load_in_background(module: str) -> Future[ModuleType]:
    """Begin to import a module, once in the life of the process, and return what will hold it."""
    executor = ThreadPoolExecutor(1, thread_name_prefix=f"load-{module}")
    loading = executor.submit(import_module, module)
    executor.shutdown(wait=False)
    return loading
