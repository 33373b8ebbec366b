"""The image stage that trains the ahead-of-time cache of the JVM has every module that its script imports."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_training_script_finds_its_modules_in_the_image() -> None:
    stage = (ROOT / "image/Containerfile").read_text(encoding="utf-8").split(" AS trained")[1].split("\nFROM ")[0]
    copied = [ROOT / source for source in re.findall(r"^COPY ((?:devkit|ci)\S*) ", stage, re.MULTILINE)]

    required = modules_of(ROOT / "image/recipe/train.py", set())

    assert ROOT / "devkit/broker.py" in required
    assert [path for path in required if not any(path.is_relative_to(source) for source in copied)] == []


def modules_of(script: Path, files: set[Path]) -> set[Path]:
    """The files of devkit and ci that a script imports, directly or not."""
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            path = ROOT / f"{node.module.replace('.', '/')}.py"
            if node.module.split(".")[0] in ("devkit", "ci") and path not in files and path.exists():
                files.add(path)
                modules_of(path, files)
    return files
