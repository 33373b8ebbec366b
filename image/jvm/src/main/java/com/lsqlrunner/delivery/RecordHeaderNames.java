package com.lsqlrunner.delivery;

import java.nio.ByteBuffer;

/** The headers of the records that a processor writes. */
public final class RecordHeaderNames {
    /** The batch that wrote the record: {@code <app id>/<run>/<query>/<batch id>}, UTF-8. */
    public static final String BATCH = "lsql.batch";

    /** The identity of the record, unique in its query, 16 bytes. Only records of exactly-once delivery have it. */
    public static final String IDENTITY = "lsql.id";

    private RecordHeaderNames() {}

    /** Whether a header is one of these. */
    public static boolean isOurs(String name) {
        return name.equals(BATCH) || name.equals(IDENTITY);
    }

    /** The value of {@link #IDENTITY}. */
    public static byte[] identity(long high, long low) {
        return ByteBuffer.allocate(2 * Long.BYTES).putLong(high).putLong(low).array();
    }
}
