"""The class archive that set-up trains."""

from __future__ import annotations

from dataclasses import replace

from devkit.engines import quick_jvm
from lsql_runner.jvm.spark_jvm import SparkJvm


def test_the_jvm_of_this_checkout_can_use_the_archive() -> None:
    """With -Xshare:on, a JVM whose class path is not that of the training ends at once."""
    options = quick_jvm(("-Xshare:on",))
    jvm = SparkJvm(replace(options, exit_s=60.0))
    try:
        jvm.connect()
    finally:
        jvm.close()

    assert jvm.process.returncode == 0
