"""Where set-up put the JVM jars, and how a Java program of theirs is called."""

import os
import sys
from pathlib import Path


def jar_folder(name: str) -> Path:
    """Returns the folder `jars` (the runner's) or `broker-jars`; FileNotFoundError if set-up has not run."""
    folder = Path(sys.prefix) / "share/lsql-runner" / name
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is missing: run `make setup`")
    return folder


def java_command(folder: Path, main_class: str, *options: str) -> list[str]:
    """Returns the command that runs a class with all jars of a folder; its arguments are to be appended.

    Tuned for tests: quick to start and small, not fast in the long run. `options` come after and win.
    """
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin/java") if home else "java"
    quick = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xms64m", "-Xmx256m"]
    return [java, *quick, *options, "-cp", f"{folder}/*", main_class]
