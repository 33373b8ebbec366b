"""What is deployed: program, version and settings of a processor, and what has changed since the last start."""

from __future__ import annotations

from collections.abc import Mapping

from lsql_runner.config.settings import FIELDS, Settings
from lsql_runner.events.audit import digest_of

_CHARS = 1_000
"""A value in the audit log is not longer."""
_SECRET = ("PASSWORD", "SECRET", "JAAS", "TOKEN", "KEY")
_LEFT_OUT = ("SQL", "JAVA_OPTS")
"""The program is a digest; options of the JVM may contain passwords."""

Deployment = Mapping[str, str]
"""By name: the values of settings, and `program` and `version`. It contains no credentials."""


def deployment_of(settings: Settings, version: str) -> Deployment:
    """What a process with these settings runs. SASL_* and SSL_* are credentials, and left out."""
    return {
        "program": digest_of(settings.sql),
        "version": version,
        **{
            name: str(getattr(settings, field))[:_CHARS]
            for name, field in FIELDS.items()
            if name not in _LEFT_OUT and not any(word in name for word in _SECRET)
        },
        **{f"LSQL_SINK_{sink.name.upper()}_URL": sink.url for sink in settings.sinks},
    }


def changed_values(before: Deployment | None, after: Deployment) -> tuple[Deployment | None, Deployment] | None:
    """The values before and after of what differs; None if nothing does. All values after if there is none before."""
    if before is None:
        return None, after
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if not names:
        return None
    return (
        {name: before[name] for name in names if name in before},
        {name: after[name] for name in names if name in after},
    )
