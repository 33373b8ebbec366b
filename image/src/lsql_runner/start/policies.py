"""Checks the topics of a processor against the policies of its environment, before they are read."""

from __future__ import annotations

from lsql_runner.bind.topic_policies import check_policies
from lsql_runner.config.settings import Settings
from lsql_runner.sql import ast


def check_topic_policies(program: ast.Program, settings: Settings) -> None:
    """Check the topics of the program, and the topic for metrics.

    Raises:
        LsqlError: TOPIC_NOT_ALLOWED; an error of a setting of the program.
    """
    check_policies(program, settings.policies, settings.sink_kinds)
    if settings.metrics_topic:
        settings.policies.check("write", settings.metrics_topic)
