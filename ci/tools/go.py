"""Runs Go for the pinned tools and the test cluster."""

import os
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

# A go.work or GOFLAGS of the user must not change a build that is cached by its pins.
GO_ENV = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": ""}


def required_go(go_mods: list[str]) -> tuple[int, ...]:
    """The oldest Go that can build all the modules, such as (1, 26, 0)."""
    return max(numbers(match[1]) for text in go_mods if (match := re.search(r"^go (\S+)", text, re.MULTILINE)))


def numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version; for `go1.27rc1` (1, 27, 1)."""
    return tuple(int(digits) for digits in re.findall(r"\d+", version)[:3])


def go_fault(required: tuple[int, ...]) -> str | None:
    """None if the Go on the PATH is new enough, else one line with the problem and how to correct it."""
    needed = ".".join(map(str, required))
    advice = f"Install: Go {needed} or newer, with `go` on the PATH"
    try:
        # In the root folder, where no go.mod of the checkout selects a toolchain.
        result = subprocess.run(["go", "env", "GOVERSION"], cwd="/", capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return f"Go {needed} or newer (go is not on the PATH). {advice}"
    if result.returncode or numbers(result.stdout) < required:
        version = (result.stdout or result.stderr).strip().removeprefix("go")
        return f"Go {needed} or newer (go is {version}). {advice}"
    return None


def check_go(required: tuple[int, ...]) -> None:
    """Exit with one line if Go is missing or too old."""
    if fault := go_fault(required):
        raise SystemExit(f"missing: {fault}")


def go_build(module: Path, folder: Path, packages: Mapping[str, Sequence[str]]) -> None:
    """Compile main packages of one pinned module into a folder, concurrently, because they share most imports.

    `packages` maps an import path to its linker flags. Prints the programs and the seconds; a failure shows Go's output
    and ends the process.
    """
    linked = [f"-ldflags={package}={' '.join(('-s -w', *flags))}" for package, flags in packages.items()]
    argv = ["go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly", *linked, "-o", f"{folder}/", *packages]
    print(f"  {', '.join(program_name(package) for package in packages)} ... ", end="", flush=True)
    began = time.monotonic()
    result = subprocess.run(
        argv, cwd=module, env=GO_ENV, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if result.returncode:
        raise SystemExit(f"\n{result.stdout}\ngo build failed in {module}; its output is above")
    print(f"{time.monotonic() - began:.0f} s", flush=True)


def program_name(package: str) -> str:
    """The name that Go gives to the program of a main package: the last element of its path that is not a version."""
    return next(part for part in reversed(package.split("/")) if not re.fullmatch(r"v\d+", part))
