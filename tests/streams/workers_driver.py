"""A program for test_workers.py: a session whose tasks run on workers. A line on standard input is a request, `job` or
`workers`; the response is a line of JSON. Standard input ends the program.

`python -m tests.streams.workers_driver PORT`
"""

from __future__ import annotations

import json
import sys
from contextlib import closing
from dataclasses import asdict
from itertools import count

from pyspark.sql import SparkSession

from devkit.engines import quick_jvm
from devkit.workers import workers_at
from lsql_runner.engine.cluster import read_cluster
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.jvm.spark_jvm import SparkJvm

TASKS = 8
NUMBERS = count()


def job(session: SparkSession) -> dict[str, object]:
    """A job with rows that move between workers: where its first tasks ran, the sum of the numbers, failed tasks."""
    group = f"job-{next(NUMBERS)}"
    session.sparkContext.setJobGroup(group, group)
    place = "java_method('java.lang.System', 'getProperty', 'java.io.tmpdir')"
    rows = session.range(0, 1000, 1, TASKS).selectExpr("id", f"{place} AS place").repartition(TASKS, "place")
    sums = rows.selectExpr("place", "id").groupBy("place").sum("id").collect()
    tracker = session.sparkContext._jsc.statusTracker()
    failed = 0
    for number in tracker.getJobIdsForGroup(group):
        for stage in tracker.getJobInfo(number).stageIds():
            failed += tracker.getStageInfo(stage).numFailedTasks()
    return {"places": [row[0] for row in sums], "sum": sum(row[1] for row in sums), "failed": failed}


def main(port: int) -> None:
    jvm = SparkJvm(quick_jvm())
    with closing(SparkEngine("cluster", jvm, threads=1, workers=workers_at(port))) as engine:
        session = engine.session
        print(json.dumps({"jvm": jvm.pid}), flush=True)
        for line in sys.stdin:
            if line.strip() == "job":
                response = job(session)
            else:
                workers, refused = read_cluster()
                response = {"workers": [asdict(w) for w in workers], "refused": [asdict(w) for w in refused]}
            print(json.dumps(response), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
