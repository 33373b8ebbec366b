"""The names of the metrics that a query reports after each batch."""

from lsql_runner.events.batches import FailureAction

OUTPUT_METRIC = "output"
LATE_METRIC = "late-"
"""Prefix of a store's name: the metric has the number of records in a batch that were late for the store."""
EVENT_TIME_METRIC = "event-time-"
"""Prefix of the name of an input: the metric has the `newest` event time of its records, and the time
that they `advanced` the input to, in ms since 1970 UTC."""
ERRORS_METRIC = "errors-"
"""Prefix of a name that is unique in the query: the metric has numbers of failed records, named by
`failure_count_name`."""


def failure_count_name(action: FailureAction, code: str, topic: str) -> str:
    """The name of the number of failed records of a topic with an error code."""
    return f"{action}/{code}/{topic}"
