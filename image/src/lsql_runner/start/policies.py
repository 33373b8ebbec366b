"""Checks the topics of a processor against the policies of its environment, before they are read."""

from __future__ import annotations

from lsql_runner.bind.topic_policies import check_policies
from lsql_runner.start.request import StartRequest


def check_topic_policies(request: StartRequest) -> None:
    """Check the topics of the program, and the topic for metrics.

    Raises:
        LsqlError: TOPIC_NOT_ALLOWED.
    """
    settings = request.settings
    check_policies(request.program, request.program_settings, settings.policies, settings.sink_kinds)
    if settings.metrics_topic:
        settings.policies.check("write", settings.metrics_topic)
