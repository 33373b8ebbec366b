"""Compiles Java classes to a jar, with the JDK and the jars of Spark."""

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

from lsql_runner.jvm.java import spark_home


def build_jar(sources: Mapping[str, str], jar: Path) -> None:
    """Compile classes for Java 17, and put them into a jar.

    Args:
        sources: the text of each source file, by its path as `com/example/Score.java`.
        jar: is created; its folder exists.

    Raises:
        RuntimeError: the compiler refuses a source; with its output.
    """
    home = os.environ.get("JAVA_HOME")
    javac = str(Path(home) / "bin/javac") if home else "javac"
    with tempfile.TemporaryDirectory() as scratch:
        written, classes = Path(scratch, "sources"), Path(scratch, "classes")
        for name, text in sources.items():
            path = written / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        files = [str(written / name) for name in sources]
        options = ["--release", "17", "-nowarn", "-J-XX:TieredStopAtLevel=1", "-cp", f"{spark_home() / 'jars'}/*"]
        done = subprocess.run(
            [javac, *options, "-d", str(classes), *files], check=False, capture_output=True, text=True
        )
        if done.returncode != 0:
            raise RuntimeError(done.stdout + done.stderr)
        with ZipFile(jar, "w") as archive:
            for path in sorted(classes.rglob("*.class")):
                archive.write(path, path.relative_to(classes))
