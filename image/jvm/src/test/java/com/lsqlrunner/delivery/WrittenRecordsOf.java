package com.lsqlrunner.delivery;

/** Makes {@link WrittenRecords} for tests of other packages. */
public final class WrittenRecordsOf {
    private WrittenRecordsOf() {}

    /** Records with these identities: pairs of the two longs. */
    public static WrittenRecords identities(long[]... identities) {
        WrittenRecords written = new WrittenRecords();
        for (long[] identity : identities) {
            written.add(identity[0], identity[1]);
        }
        return written;
    }

    /** The same of an open batch, with a value. */
    public static WrittenRecords opened(long[][] identities, byte[] value) {
        WrittenRecords written = new WrittenRecords();
        for (long[] identity : identities) {
            written.addOpened(identity[0], identity[1], 1, value, null);
        }
        return written;
    }
}
