"""The class archive that set-up trains."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from devkit.engines import quick_jvm
from devkit.java_compiler import build_jar
from lsql_runner.jvm.spark_jvm import JvmOptions, SparkJvm


def exit_code(options: JvmOptions) -> int | None:
    """The class archive of a JVM that is connected to and then closed."""
    jvm = SparkJvm(replace(options, exit_s=60.0))
    try:
        jvm.connect()
    finally:
        jvm.close()
    return jvm.process.returncode


def test_the_jvm_of_this_checkout_can_use_the_archive() -> None:
    """With -Xshare:on, a JVM whose class path differs from the training ends immediately."""
    assert exit_code(quick_jvm(("-Xshare:on",))) == 0


def test_a_jvm_with_user_defined_functions_can_use_the_archive(tmp_path: Path) -> None:
    build_jar({"com/example/Any.java": "package com.example; public class Any {}"}, tmp_path / "any.jar")

    assert exit_code(replace(quick_jvm(("-Xshare:on",)), udf_dir=tmp_path)) == 0
