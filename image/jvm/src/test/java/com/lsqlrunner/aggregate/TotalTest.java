package com.lsqlrunner.aggregate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.math.BigInteger;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class TotalTest {
    private static final int ROUNDS = 200;
    private static final long[] EXTREMES = {Long.MIN_VALUE, Long.MIN_VALUE + 1, -1, 0, 1, Long.MAX_VALUE};

    @Test
    void sumsBeyondALongAreExactHoweverRowsAreDivided() {
        Random random = new Random(1);
        for (int round = 0; round < ROUNDS; round++) {
            BigInteger expected = BigInteger.ZERO;
            long count = 0;
            Total whole = new Total();
            for (int part = random.nextInt(4); part >= 0; part--) {
                Total divided = new Total();
                for (int left = random.nextInt(6); left > 0; left--) {
                    long value = EXTREMES[random.nextInt(EXTREMES.length)];
                    boolean isRetraction = random.nextInt(3) == 0;
                    if (random.nextBoolean()) {
                        divided.add(value, isRetraction);
                    } else {
                        divided.add(BigInteger.valueOf(value), isRetraction);
                    }
                    expected = isRetraction
                            ? expected.subtract(BigInteger.valueOf(value))
                            : expected.add(BigInteger.valueOf(value));
                    count += isRetraction ? -1 : 1;
                }
                whole.add(Total.ofBytes(divided.toBytes()));
            }

            assertEquals(expected, whole.sum());
            assertEquals(count, whole.count());
            assertEquals(expected, Total.ofBytes(whole.toBytes()).sum());
        }
    }

    @Test
    void aStateOfAnUnknownVersionIsRefused() {
        byte[] bytes = new Total().toBytes();
        bytes[0]++;

        assertThrows(IllegalStateException.class, () -> Total.ofBytes(bytes));
    }
}
