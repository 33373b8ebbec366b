"""What the points of tests/faults name exists: there, a rule without effect is only noticed by a deadline."""

import subprocess
from pathlib import Path

from devkit.jars import jar_folder
from lsql_runner.jvm.java import java
from lsql_runner.jvm.spark_jvm import class_path
from tests.faults.points import POINTS, Agent, byteman, first_batch_held, task_held


def test_the_points_are_in_the_classes(tmp_path: Path) -> None:
    held = tmp_path / "held"
    scripts = []
    for number, point in enumerate((*POINTS, first_batch_held(held), task_held(held))):
        folder = tmp_path / str(number)
        folder.mkdir()
        scripts.append(Agent(point, folder).script())
    jars = [str(byteman()), *class_path(jar_folder("jars"))]
    command = [java(), "-cp", ":".join(jars), "org.jboss.byteman.check.TestScript", *map(str, scripts)]

    checked = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)

    assert "no errors" in checked.stdout, checked.stdout + checked.stderr
