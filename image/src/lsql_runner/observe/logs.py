"""The log of the process: structlog with the standard library, so that lines of all libraries have the same format.

It writes JSON lines to stderr, or aligned text if stderr is a terminal. The values of secrets are masked.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from lsql_runner.config.log_levels import LEVELS, level_name
from lsql_runner.errors import DetailError, LsqlError
from lsql_runner.events.audit import AUDIT_LOGGER

NOISY = ("urllib3", "httpx2", "httpcore2")
"""Libraries that log every call at DEBUG. They are logged only if the level includes them."""

SILENT = "py4j"
"""It logs the arguments of every call, which include credentials. Only its critical errors are logged."""

MASK = "***"
_SECRET_KEY = re.compile(
    r"passw|secret|token|credential|api[_.-]?key|private[_.-]?key|jaas|authorization|basic[_.]auth", re.I
)
_SECRET_IN_TEXT = (
    re.compile(
        r"(?i)((?:passw(?:or)?d|secret|token|api[_.-]?key|basic\.auth\.user\.info)\b[\"']?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|[^\s,;}&]+)"
    ),
    re.compile(r"(://[^/\s:@]{0,200}:)([^/\s@]{1,200})(?=@)"),
    re.compile(r"(?i)(\b(?:bearer|basic)\s+)([a-z0-9+/._~=-]{8,})"),
)


_JVM_MESSAGE = re.compile(r"(?ms)^((?:py4j|pyspark)\.[\w.]+):.*?(?=^(?:Traceback|During handling|The above exc)|\Z)")
"""In a stack trace: an exception of py4j or pyspark, whose message is one of the JVM."""


def configure(
    level: str = "INFO",
    stream: TextIO | None = None,
    fields: Mapping[str, str] | None = None,
    includes_values: bool = False,
) -> None:
    """Write the log of the process to `stream` (stderr by default), with `fields` in every line.

    With `includes_values`, stack traces have the messages of exceptions of the JVM, which may have values of records.
    A later call replaces the configuration, for example after a fork.

    Raises:
        LsqlError: ENV_INVALID for an unknown level.
    """
    try:
        shown = LEVELS[level_name(level)]
    except DetailError as error:
        raise LsqlError("ENV_INVALID", name="ROOT_LOG_LEVEL", value=level, expected=error.reason) from None
    stream = stream if stream is not None else sys.stderr
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _adder(dict(fields or {})),
    ]
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder()],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_renderers(stream, includes_values),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(shown.threshold)
    everything = shown.includes_noisy_libraries
    for name in NOISY:
        logging.getLogger(name).setLevel(logging.NOTSET if everything else max(shown.threshold, logging.CRITICAL))
    logging.getLogger(SILENT).setLevel(max(shown.threshold, logging.CRITICAL))
    handler.addFilter(_is_not_from_py4j)
    # The audit log is complete at every level except OFF.
    logging.getLogger(AUDIT_LOGGER).setLevel(logging.INFO if shown.threshold <= logging.CRITICAL else shown.threshold)
    logging.captureWarnings(True)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def _is_not_from_py4j(record: logging.LogRecord) -> bool:
    """Whether a line is not py4j's, which also uses the root logger: a trace for each call after the JVM has ended."""
    return "/py4j/" not in record.pathname


def mask_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """The event with masked secrets: values of keys with such a name, and secrets in texts."""
    return {
        key: MASK if _SECRET_KEY.search(key) and value is not None else _mask(value) for key, value in event.items()
    }


def _mask(value: object) -> object:
    if isinstance(value, str):
        for pattern in _SECRET_IN_TEXT:
            value = pattern.sub(rf"\g<1>{MASK}", value)
        return value
    if isinstance(value, Mapping):
        return {k: MASK if _SECRET_KEY.search(str(k)) and v is not None else _mask(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_mask(item) for item in value]
    return value


def _adder(fields: dict[str, str]) -> Processor:
    def add(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        return {**fields, **event}

    return add


def _order_fields(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    return {key: event[key] for key in ("timestamp", "level", "message", "logger") if key in event} | dict(event)


def hide_jvm_messages(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """The event with a stack trace in which exceptions of py4j and pyspark have no message."""
    trace = event.get("exception")
    return (
        event if not isinstance(trace, str) else {**event, "exception": _JVM_MESSAGE.sub(r"\1\n", trace).rstrip("\n")}
    )


def _renderers(stream: TextIO, includes_values: bool) -> list[Processor]:
    trace: list[Processor] = [structlog.processors.format_exc_info, *(() if includes_values else (hide_jvm_messages,))]
    if stream.isatty():
        return [*trace, mask_secrets, structlog.dev.ConsoleRenderer()]
    return [
        *trace,
        mask_secrets,
        structlog.processors.EventRenamer("message"),
        _order_fields,
        structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
    ]
