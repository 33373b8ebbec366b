package com.lsqlrunner.operators;

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.streaming.MapState;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * The rows of one id during a batch: read once from the state, changed on the heap, and written back at the end of the
 * batch.
 */
final class CachedState {
    private final MapState<byte[], byte[]> state;
    private final Map<ByteBuffer, byte[]> rows = new LinkedHashMap<>();
    private final Set<ByteBuffer> changed = new HashSet<>();

    CachedState(MapState<byte[], byte[]> state) {
        this.state = state;
        for (Iterator<Tuple2<byte[], byte[]>> entries = state.iterator(); entries.hasNext(); ) {
            Tuple2<byte[], byte[]> row = entries.next();
            rows.put(ByteBuffer.wrap(row._1()), row._2());
        }
    }

    boolean isEmpty() {
        return rows.isEmpty();
    }

    Collection<byte[]> rows() {
        return rows.values();
    }

    /** The rows by their keys within the id. */
    Map<ByteBuffer, byte[]> byRowKey() {
        return rows;
    }

    /** Sets the row with a key within the id; null removes it. */
    void put(byte[] rowKey, byte[] row) {
        ByteBuffer mapKey = ByteBuffer.wrap(rowKey);
        changed.add(mapKey);
        if (row == null) {
            rows.remove(mapKey);
        } else {
            rows.put(mapKey, row);
        }
    }

    /** Writes the changed rows to the state. */
    void flush() {
        for (ByteBuffer rowKey : changed) {
            byte[] row = rows.get(rowKey);
            if (row == null) {
                state.removeKey(rowKey.array());
            } else {
                state.updateValue(rowKey.array(), row);
            }
        }
    }
}
