"""The folders of the JVM jars that set-up creates, and the command of a Java program in them."""

import os
import sys
from pathlib import Path


def jar_folder(name: str) -> Path:
    """A folder that set-up creates: `jars` (of the runner), `broker-jars`, `registry` and others of ci/tools/maven.py.
    FileNotFoundError if set-up has not run.
    """
    folder = Path(sys.prefix) / "share/lsql-runner" / name
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is missing: run `make setup`")
    return folder


def java_command(folder: Path, main_class: str, *options: str) -> list[str]:
    """The command that runs a class with all jars of a folder; the caller appends its arguments.

    The JVM is tuned for tests: quick to start and small. `options` come last and override these settings. Class
    archives name the jars, so the class path has the folder of the cache, which all clones share.
    """
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin/java") if home else "java"
    quick = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xms64m", "-Xmx256m"]
    return [java, *quick, *options, "-cp", f"{folder.resolve()}/*", main_class]
