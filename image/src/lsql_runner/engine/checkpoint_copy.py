"""Copies checkpoints into another folder, where queries can continue them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def copy_checkpoints(source: Path, target: Path) -> None:
    """Copy a folder of checkpoints, whose queries are stopped, to a folder that does not exist.

    Raises:
        OSError: the volume is full or read-only.
    """
    try:
        shutil.copytree(source, target)
    except shutil.Error as error:  # a list with an entry for each file: on a full volume, thousands
        _, _, first = error.args[0][0]
        raise OSError(first) from None
    # Spark writes absolute paths into the metadata of operators, and reads the files with these names.
    old, new = str(source).encode(), str(target).encode()
    for path in target.rglob("_metadata/*/*"):
        if path.is_file() and old in (content := path.read_bytes()):
            path.write_bytes(content.replace(old, new))
            for checksum in (path.with_name(f"{path.name}.crc"), path.with_name(f".{path.name}.crc")):
                checksum.unlink(missing_ok=True)


def sync_volume() -> None:
    """Wait until all files that this machine has written are on the disk: a copy has too many to sync each."""
    os.sync()
