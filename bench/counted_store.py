"""An object store for the state of lsql-runner that counts the requests of a run."""

from __future__ import annotations

import re
from collections import Counter

from devkit.object_store import ObjectStore

_REQUEST = re.compile(r" s3_(\w+) (\S+) ")
_COMMIT = "/commits/"


class CountedStore(ObjectStore):
    """`take_requests` describes the requests since its last call."""

    def __init__(self) -> None:
        super().__init__()
        self._taken = 0

    def take_requests(self) -> str:
        """How many requests there were for each batch, by kind. A batch ends with an entry of the commit log."""
        lines = self.requests()
        matches = [match for line in lines[self._taken :] if (match := _REQUEST.search(line))]
        self._taken = len(lines)
        kinds = Counter(match[1] for match in matches)
        batches = sum(match[1] == "PutObject" and _COMMIT in match[2] for match in matches)
        shares = ", ".join(f"{count / max(1, batches):.1f} {kind}" for kind, count in kinds.most_common())
        return f"object store: {len(matches)} requests, {batches} batches; for each: {shares}"
