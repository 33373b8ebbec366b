"""The log of the JVM: lines of JSON on stderr, like those of Python."""

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

_EXCEPTION = r"(?s)((?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error)\b(?:: \[[A-Z][A-Z0-9_.]+\])?).*"
"""The class of an exception with its condition, and what follows: its own message, which may have values."""


def log_configuration(level: str, includes_values: bool) -> str:
    """The configuration of log4j. Without values, exceptions are logged with their class and without their message."""
    shown = "%m" if includes_values else f"%replace{{%m}}{{{_EXCEPTION}}}{{$1}}"
    return _LOG4J.format(
        level=level.lower(),
        message=shown.replace("\\", "\\\\"),  # properties: a backslash begins an escape
        exception="%throwable{short.message}" if includes_values else "%throwable{short.className}",
    )
