"""The options of Spark's JVM, with a program that prints them in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsql_runner.jvm import spark_jvm
from lsql_runner.jvm.spark_jvm import JvmOptions, SparkJvm


def arguments(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    archive: str,
    *java_options: str,
    udf_dir: Path | None = None,
    includes_values: bool = False,
) -> list[str]:
    """The arguments of the JVM with a class archive of this name."""
    (folder / "kafka-clients-3.9.2.jar").touch()
    (folder / archive).touch()
    java = folder / "bin/java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {folder}/arguments\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(folder))
    options = JvmOptions(
        jars=folder,
        heap_mib=256,
        java_options=java_options,
        udf_dir=udf_dir,
        class_archive=folder / archive,
        includes_values=includes_values,
    )
    SparkJvm(options).close()
    return (folder / "arguments").read_text().splitlines()


@pytest.mark.parametrize("archive", ["classes.jsa", "classes.aot"])
def test_the_optimizing_compiler_starts_late_with_either_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, archive: str
) -> None:
    options = arguments(tmp_path, monkeypatch, archive)

    assert f"{tmp_path / archive}" in " ".join(options)
    assert "-XX:Tier4InvocationThreshold=200000" in options


def test_malloc_returns_free_memory_to_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "-XX:TrimNativeHeapInterval=60000" in arguments(tmp_path, monkeypatch, "classes.aot")


def test_options_of_the_user_follow_those_of_the_runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = arguments(tmp_path, monkeypatch, "classes.jsa", "-XX:Tier4InvocationThreshold=5000")

    assert options.index("-XX:Tier4InvocationThreshold=5000") > options.index("-XX:Tier4InvocationThreshold=200000")


def test_the_jars_of_functions_are_the_last_ones_of_the_class_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = tmp_path / "functions"
    functions.mkdir()
    for name in ("b.jar", "a.jar", "functions.yaml"):
        (functions / name).touch()

    options = arguments(tmp_path, monkeypatch, "classes.aot", udf_dir=functions)

    class_path = options[options.index("-cp") + 1].split(":")
    assert class_path[-2:] == [str(functions / "a.jar"), str(functions / "b.jar")]
    assert str(tmp_path / "kafka-clients-3.9.2.jar") in class_path[:-2]


@pytest.mark.parametrize("includes", [False, True])
def test_error_texts_include_values_only_if_the_setting_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, includes: bool
) -> None:
    of_user = "-Dlsql.errors.includeValues=other"

    options = arguments(tmp_path, monkeypatch, "classes.jsa", of_user, includes_values=includes)

    effective = [each for each in options if each.startswith("-Dlsql.errors.includeValues=")][-1]
    assert effective == f"-Dlsql.errors.includeValues={str(includes).lower()}"


def test_the_folder_that_has_to_be_executable_is_that_of_the_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With noexec at /tmp, -Djava.io.tmpdir is a way out."""
    checked: list[Path] = []
    monkeypatch.setattr(spark_jvm, "check_executable", checked.append)

    arguments(tmp_path, monkeypatch, "classes.jsa", "-Djava.io.tmpdir=/a", "-Djava.io.tmpdir=/b")

    assert checked == [Path("/b")]
