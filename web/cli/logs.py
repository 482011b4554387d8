"""Log lines: one form for ours and for those of libraries, as text for people or JSON for machines."""

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

from appliance.sensitive import redact_for_log
from appliance.settings import Settings

# Libraries whose lower levels would log requests with their headers.
_QUIET = ("asyncio", "httpx", "httpcore", "httpx2", "httpcore2", "websockets", "alembic", "anthropic", "openai")


def set_up_logging(settings: Settings) -> None:
    """Send everything to stdout in the form and from the level that the settings say."""
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
    ]
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if settings.log_format == "json"
        else structlog.dev.ConsoleRenderer(
            colors=sys.stdout.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _take_out_secrets, renderer],
        )
    )
    logging.basicConfig(handlers=[handler], level=level, force=True)
    logging.getLogger("uvicorn.error").addFilter(_leave_out_query)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))


def _take_out_secrets(_: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    # Last before the line is written, so that it meets what exceptions and libraries say, too.
    return redact_for_log(dict(line))


def _leave_out_query(record: logging.LogRecord) -> bool:
    # The web server names the whole address of a socket; that of a live view lets in whoever knows it.
    if isinstance(record.args, tuple):
        record.args = tuple(re.sub(r"\?.*", "", value) if isinstance(value, str) else value for value in record.args)
    return True
