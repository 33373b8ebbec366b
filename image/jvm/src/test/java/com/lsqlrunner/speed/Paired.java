package com.lsqlrunner.speed;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;

/** Compares two ways of the same work, one after the other in each round; not a test. */
public final class Paired {
    private static final int CALLS = 1_000_000;
    private static final int WARM_UP = 5;
    private static final int ROUNDS = 15;

    /** Of the thread, not the wall: other work on the machine counts less. Collecting garbage does not count. */
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    private static long kept;

    private Paired() {}

    /** The work. */
    public interface Work {
        /** Does it once; the result is kept, so that the compiler drops nothing. */
        Object run() throws Exception;
    }

    /** Prints the medians in nanoseconds, and the median of the ratios of a round. */
    public static void compare(String what, Work ours, Work theirs) throws Exception {
        double[] our = new double[ROUNDS];
        double[] their = new double[ROUNDS];
        double[] ratio = new double[ROUNDS];
        for (int round = -WARM_UP; round < ROUNDS; round++) {
            double one = nanos(ours);
            double other = nanos(theirs);
            if (round >= 0) {
                our[round] = one;
                their[round] = other;
                ratio[round] = other / one;
            }
        }
        System.out.printf(
                "%-16s ours %.0f ns, library %.0f ns, library/ours %.2f (%d)%n",
                what, median(our), median(their), median(ratio), kept & 1);
    }

    private static double nanos(Work work) throws Exception {
        long start = CLOCK.getCurrentThreadCpuTime();
        for (int i = 0; i < CALLS; i++) {
            kept += System.identityHashCode(work.run().getClass()) & 1;
        }
        return (CLOCK.getCurrentThreadCpuTime() - start) / (double) CALLS;
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }
}
