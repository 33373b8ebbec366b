"""Go, as the pinned tools and the test cluster are built with it."""

import os
import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

# A go.work or GOFLAGS of the person who builds must not change what is built under a key of the cache.
GO_ENV = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": ""}


def wanted_go(go_mods: list[str]) -> tuple[int, ...]:
    """Returns the oldest Go that can build all the modules, as (1, 26, 0)."""
    return max(numbers(found[1]) for text in go_mods if (found := re.search(r"^go (\S+)", text, re.MULTILINE)))


def numbers(version: str) -> tuple[int, ...]:
    """Returns the numbers of a version, of `go1.27rc1` (1, 27, 1)."""
    return tuple(int(digits) for digits in re.findall(r"\d+", version)[:3])


def go_fault(wanted: tuple[int, ...]) -> str | None:
    """Returns in one line what is wrong with the Go on the PATH and the way out; None where it does."""
    needed = ".".join(map(str, wanted))
    advice = f"Install: Go {needed} or newer, with `go` on the PATH"
    try:
        # In the root folder: no go.mod of the checkout chooses a toolchain there.
        said = subprocess.run(["go", "env", "GOVERSION"], cwd="/", capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return f"Go {needed} or newer (go is not on the PATH). {advice}"
    if said.returncode or numbers(said.stdout) < wanted:
        found = (said.stdout or said.stderr).strip().removeprefix("go")
        return f"Go {needed} or newer (go is {found}). {advice}"
    return None


def check_go(wanted: tuple[int, ...]) -> None:
    """Ends with one line where Go is missing or too old."""
    if fault := go_fault(wanted):
        raise SystemExit(f"missing: {fault}")


def go_build(
    module: Path, packages: Sequence[str], target: str | Path, flags: Sequence[str] = (), name: str = ""
) -> None:
    """Compiles main packages of one pinned module; several at once share what they have in common.

    `target` is a file, or with a slash at its end a folder. `flags` are the linker's. Says how long it took; a failure
    shows what Go said, and ends.
    """
    linked = " ".join(("-s -w", *flags))
    argv = ["go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", linked, "-o", str(target)]
    began = time.monotonic()
    print(f"  {name or ', '.join(package.rsplit('/', 1)[-1] for package in packages)} ... ", end="", flush=True)
    said = subprocess.run(
        [*argv, *packages],
        cwd=module,
        env=GO_ENV,
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if said.returncode:
        raise SystemExit(f"\n{said.stdout}\nbuilding {' '.join(packages)[:200]} failed; what Go said is above")
    print(f"{time.monotonic() - began:.0f} s", flush=True)
