"""The program that executes requests to brokers, in the JVM of Spark: a processor needs no other JVM for it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import reduce
from typing import Any

from py4j.java_gateway import GatewayParameters, JavaGateway  # type: ignore[import-untyped]
from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]

from lsql_runner.jvm.java_entries import BROKER_CHANNEL
from lsql_runner.jvm.spark_jvm import GATEWAY_PORT, GATEWAY_SECRET, SparkJvm
from lsql_runner.kafka.channel import Channel, ChannelClosedError, ChannelTimeoutError
from lsql_runner.kafka.reasons import REASONS

_READ_S = 10.0
"""A JVM that does not answer within this time is paused, or about to run out of memory."""
_LINE_S = 1.0
"""The longest call that waits for a line; shorter than `_READ_S`."""
_JVM_ENDS_S = 1.0
"""The sockets of a JVM close before it ends."""


class SparkChannel(Channel):
    """A thread in the JVM with its own client of the brokers. The constructor waits until the JVM has started.

    Has its own connection to the JVM: it does not wait for the session, and its calls have a deadline.
    """

    def __init__(self, jvm: SparkJvm) -> None:
        self._jvm = jvm
        self._ended = False
        self._responds = True
        with self._calls():
            jvm.connect()
            port, secret = int(os.environ[GATEWAY_PORT]), os.environ[GATEWAY_SECRET]
            # Without memory management, no finalizer calls a JVM that may have ended; `close` releases the object.
            parameters = GatewayParameters(
                port=port, auth_token=secret, read_timeout=_READ_S, enable_memory_management=False
            )
            self._gateway = JavaGateway(gateway_parameters=parameters)
            self._java: Any = reduce(getattr, BROKER_CHANNEL.split("."), self._gateway.jvm)()

    @property
    def runs(self) -> bool:
        return not self._ended

    def end(self) -> None:
        self._ended = True
        self._last_call(self._java.close)

    def close(self) -> None:
        self.end()
        self._last_call(lambda: self._gateway.detach(self._java))
        self._gateway.close()

    def _last_call(self, call: Callable[[], None]) -> None:
        """A call that is left out if the JVM does not respond."""
        with suppress(ChannelClosedError):
            if self._responds:
                with self._calls():
                    call()

    def _send(self, request: str) -> None:
        with self._calls():
            self._java.send(request)

    def _line(self, timeout_s: float) -> str:
        deadline = time.monotonic() + timeout_s
        while not self._ended:
            left_s = max(0.0, deadline - time.monotonic())
            with self._calls():
                line: str | None = self._java.line(int(min(left_s, _LINE_S) * 1000))
            if line is not None:
                return line
            if left_s <= _LINE_S:
                raise self._timeout(timeout_s)
        raise ChannelClosedError(REASONS("CLOSED"))

    @contextmanager
    def _calls(self) -> Iterator[None]:
        """Calls of the JVM. If it has ended, they fail in many ways; errors of our own code pass."""
        try:
            yield
        except Exception as error:
            alive = self._jvm.is_alive(_JVM_ENDS_S)
            if alive and (isinstance(error, Py4JJavaError) or not isinstance(error, Py4JError | OSError)):
                raise
            self._responds = False
            if alive:
                raise self._timeout(_READ_S) from None
            self._ended = True
            raise ChannelClosedError(REASONS("JVM_GONE", reason=self._jvm.death())) from None

    def _timeout(self, seconds: float) -> ChannelTimeoutError:
        self._ended = True
        return ChannelTimeoutError(REASONS("TIMEOUT", seconds=f"{seconds:.0f}"))
