"""The options of the garbage collector of Spark's JVM."""

from __future__ import annotations

from lsql_runner.container.limits import cores

SMALL_HEAP_MIB = 512
"""The largest heap that shrinks: a collection of all its objects takes 0.1 to 0.2 s."""

FIRST_OLD_MIB = 32
"""The size at the start of the space for old objects; unused pages need no memory. The JVM copies the objects of its
ahead-of-time cache there, about 6 MiB, and ends if they do not fit. By default the space has 6 MiB.
"""


def collector_options(heap_mib: int, is_continuous: bool = False) -> tuple[str, ...]:
    """The options of the garbage collector, for a heap of this size.

    Args:
        heap_mib: -Xmx.
        is_continuous: whether objects live as long as a record, instead of a batch or an open batch. Then the space for
            new objects, which the JVM fills before it collects, can be smaller.

    A small heap shrinks after each full collection to its objects and 15 to 30 % in addition. By default it only grows,
    and after some minutes a stateless processor uses all of -Xmx for garbage. `runtime.memory_reporter` requests the
    collections; Spark's collections, at fixed times, would stop all records for a tenth of a second each minute.

    Objects of a batch become garbage when it ends. By default they fill half of a survivor space and are then kept with
    the old objects, which grew by 3 MiB a second with two windowed counts; with nine tenths by 0.1.

    The serial collector processes as many records in a small heap as the parallel one, and needs 50 MiB less.
    """
    if heap_mib > SMALL_HEAP_MIB:
        # Serial on one core, where threads would compete. Objects of a batch are garbage when it ends: with more than a
        # fifth of the heap for new objects, the JVM only collects later.
        collector = "-XX:+UseParallelGC" if cores() > 1 else "-XX:+UseSerialGC"
        # The JVM's default is a 64th of the container's memory: a large heap does not begin with less.
        first_mib = max(2 * FIRST_OLD_MIB, heap_mib // 32)
        return (collector, "-XX:NewRatio=4", f"-XX:InitialHeapSize={first_mib}m", _SPARKS_COLLECTIONS)
    shrinking = ("-XX:MinHeapFreeRatio=15", "-XX:MaxHeapFreeRatio=30", "-XX:-ShrinkHeapInSteps")
    # Of fixed size: in a share of a heap that has shrunk, the JVM collected 17 times a second.
    young_mib = heap_mib * 3 // (20 if is_continuous else 10)
    young = (f"-Xmn{young_mib}m", "-XX:TargetSurvivorRatio=90")
    first = f"-XX:InitialHeapSize={min(heap_mib, young_mib + FIRST_OLD_MIB)}m"
    return ("-XX:+UseSerialGC", *young, first, *shrinking, _SPARKS_COLLECTIONS)


_SPARKS_COLLECTIONS = "-Dspark.cleaner.periodicGC.interval=10min"
"""Spark removes the files of a shuffle when the JVM has collected its objects."""
