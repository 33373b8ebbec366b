"""The log of the JVM: lines of JSON on stderr, like Python's log."""

from __future__ import annotations

_LOG4J = """\
rootLogger.level = {level}
rootLogger.appenderRef.stderr.ref = stderr
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = {level}
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = {{"timestamp":"%d{{yyyy-MM-dd'T'HH:mm:ss.SSS'Z'}}{{UTC}}","level":"%p",\\
"logger":"%c","message":"%enc{{{message}}}{{JSON}}","exception":"%enc{{{exception}}}{{JSON}}"}}%n
appender.stderr.layout.disableAnsi = true
"""

_EXCEPTION = r"(?s)((?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error)\b(?:: \[[A-Z][A-Z0-9_.]+\])?|\[[A-Z][A-Z0-9_.]+\]).*"
"""The class of an exception, its condition, or both; and what follows: its own message, which may have values."""


def log_configuration(level: str, includes_values: bool) -> str:
    """The configuration of log4j. Without values, exceptions are logged with their class and without their message."""
    if includes_values:
        return _LOG4J.format(level=level.lower(), message="%m", exception="%throwable{short.message}")
    message, exception = (_remove_messages(shown) for shown in ("%m", "%ex{1}"))
    return _LOG4J.format(level=level.lower(), message=message, exception=exception)


def _remove_messages(pattern: str) -> str:
    pattern = f"%replace{{{pattern}}}{{{_EXCEPTION}}}{{$1}}"
    return pattern.replace("\\", "\\\\")  # in the file, a backslash begins an escape
