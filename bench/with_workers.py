"""`python bench/with_workers.py COUNT`: `lsql run` and so many workers, as children of one process, which is measured.

All have the environment of this process, so the workers share the heap and the threads of the processor's settings.
SIGTERM ends all of them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

_GRACE_S = 30


def main(count: int) -> int:
    """Run until the processor ends; returns its exit code."""
    lsql = Path(sys.prefix, "bin", "lsql")
    with tempfile.TemporaryDirectory(prefix="lsql-bench-workers-") as folder:
        processor = subprocess.Popen([lsql, "run"])
        signal.signal(signal.SIGTERM, lambda *_: processor.terminate())
        workers = []
        for number in range(count):
            (own := Path(folder, str(number))).mkdir()
            workers.append(subprocess.Popen([lsql, "worker"], env={**os.environ, "TMPDIR": str(own)}))
        code = processor.wait()
        for worker in workers:
            worker.terminate()
        for worker in workers:
            try:
                worker.wait(_GRACE_S)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
    return code


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
