package com.lsqlrunner.sink;

import java.io.Serializable;
import java.util.List;

/**
 * The target of a program in a sink.
 *
 * @param name of the table, or the prefix of all keys
 * @param columns names, in the order of a row's values
 * @param types of the columns: int, long, float, double, numeric, decimal(p,s), string, boolean, bytes, date,
 *     timestamp, json
 * @param key names of the columns that identify a row; empty for none
 * @param upsert whether a row replaces the row with the same key
 * @param creates whether a missing table is created
 * @param batchRows the largest number of rows in one request
 * @param store the value of STOREAS, {@code STRING} or {@code HASH}; empty for a sink without it
 */
public record SinkTable(
        String name,
        List<String> columns,
        List<String> types,
        List<String> key,
        boolean upsert,
        boolean creates,
        int batchRows,
        String store)
        implements Serializable {
    private static final long serialVersionUID = 1L;

    public SinkTable {
        columns = List.copyOf(columns);
        types = List.copyOf(types);
        key = List.copyOf(key);
    }

    /** The indexes of the key columns. */
    public int[] keyIndexes() {
        return key.stream().mapToInt(columns::indexOf).toArray();
    }
}
