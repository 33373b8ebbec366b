package com.lsqlrunner.speed;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import org.apache.spark.unsafe.types.UTF8String;

/** Compares two implementations, which run alternately. Not a test. */
public final class SpeedComparison {
    private static final int CALLS = 1_000_000;
    private static final int WARM_UP = 5;
    private static final int ROUNDS = 15;

    /** The processor time of the thread: it depends less on other processes, and excludes garbage collection. */
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    private static long kept;

    private SpeedComparison() {}

    /** A call of one implementation. */
    public interface Call {
        /** The result is used, so the compiler cannot remove the call. */
        Object run() throws Exception;
    }

    /** Spark's string over bytes, after the check for UTF-8 that the module's readers make. */
    public static UTF8String checked(byte[] bytes, int length) {
        UTF8String text = UTF8String.fromBytes(bytes, 0, length);
        for (int i = 0; i < length; i++) {
            if (bytes[i] < 0) {
                if (!text.isValid()) {
                    throw new IllegalArgumentException("not UTF-8");
                }
                break;
            }
        }
        return text;
    }

    /** Prints the medians in nanoseconds, and the median of the ratios of the rounds. */
    public static void compare(String name, Call ours, Call library) throws Exception {
        double[] ourNanos = new double[ROUNDS];
        double[] libraryNanos = new double[ROUNDS];
        double[] ratio = new double[ROUNDS];
        for (int round = -WARM_UP; round < ROUNDS; round++) {
            double one = nanos(ours);
            double other = nanos(library);
            if (round >= 0) {
                ourNanos[round] = one;
                libraryNanos[round] = other;
                ratio[round] = other / one;
            }
        }
        System.out.printf(
                "%s: ours %.0f ns, library %.0f ns, library/ours %.2f (%d)%n",
                name, median(ourNanos), median(libraryNanos), median(ratio), kept & 1);
    }

    private static double nanos(Call call) throws Exception {
        long start = CLOCK.getCurrentThreadCpuTime();
        for (int i = 0; i < CALLS; i++) {
            kept += System.identityHashCode(call.run().getClass()) & 1;
        }
        return (CLOCK.getCurrentThreadCpuTime() - start) / (double) CALLS;
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }
}
