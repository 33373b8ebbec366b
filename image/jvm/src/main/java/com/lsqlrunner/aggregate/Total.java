package com.lsqlrunner.aggregate;

import java.math.BigInteger;

/** The exact sum of whole numbers, and their count. A retracted value reduces both. */
final class Total {
    private static final int VERSION = 1;

    /** The sum is {@code small + large}. Most values are added to the long, without creating an object. */
    private long small;

    private BigInteger large = BigInteger.ZERO;
    private long count;

    void add(long value, boolean isRetraction) {
        if (isRetraction && value == Long.MIN_VALUE) {
            add(BigInteger.valueOf(value), true);
            return;
        }
        addSmall(isRetraction ? -value : value);
        count += isRetraction ? -1 : 1;
    }

    void add(BigInteger value, boolean isRetraction) {
        large = isRetraction ? large.subtract(value) : large.add(value);
        count += isRetraction ? -1 : 1;
    }

    void add(Total other) {
        addSmall(other.small);
        large = large.add(other.large);
        count += other.count;
    }

    private void addSmall(long value) {
        long sum = small + value;
        if (((small ^ sum) & (value ^ sum)) < 0) {
            large = large.add(BigInteger.valueOf(small));
            sum = value;
        }
        small = sum;
    }

    BigInteger sum() {
        return large.add(BigInteger.valueOf(small));
    }

    long count() {
        return count;
    }

    /** The bytes in the state of a group. */
    byte[] toBytes() {
        StateBytes to = StateBytes.empty();
        to.writeByte(VERSION);
        to.writeLong(count);
        to.writeBytes(sum().toByteArray());
        return to.toBytes();
    }

    static Total ofBytes(byte[] bytes) {
        StateBytes from = StateBytes.of(bytes);
        int version = from.readByte();
        if (version != VERSION) {
            throw new IllegalStateException("a sum has the unknown version " + version);
        }
        Total total = new Total();
        total.count = from.readLong();
        BigInteger sum = new BigInteger(from.readBytes());
        if (sum.bitLength() < Long.SIZE) {
            total.small = sum.longValue();
        } else {
            total.large = sum;
        }
        return total;
    }
}
