"""Copies checkpoints into another folder, where queries can continue them."""

from __future__ import annotations

from lsql_runner.state.folder import StateFolder


def copy_checkpoints(source: StateFolder, target: StateFolder, location: str | None = None) -> None:
    """Copy a folder of checkpoints, whose queries are stopped, to a folder that does not exist.

    Args:
        location: where the queries ran, if it was not in `source`.

    Raises:
        OSError: the volume is full or read-only.
    """
    source.copy_to(target)
    # Spark writes locations into the metadata of operators, and reads the files with these names.
    old, new = (location or str(source)).encode(), str(target).encode()
    for path in target.all_files():
        folder, _, name = path.rpartition("/")
        if folder.split("/")[-2:-1] == ["_metadata"] and old in (content := target.read(path) or b""):
            target.write(path, content.replace(old, new))
            for checksum in (f"{folder}/{name}.crc", f"{folder}/.{name}.crc"):
                target.delete(checksum)
