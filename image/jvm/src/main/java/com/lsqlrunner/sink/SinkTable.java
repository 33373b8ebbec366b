package com.lsqlrunner.sink;

import java.io.Serializable;
import java.util.List;

/**
 * What a program writes to in a sink.
 *
 * @param name of the table, or what all keys begin with
 * @param columns names, in the order of a row's values
 * @param types of the columns, one each: int, long, float, double, decimal(p,s), string, boolean, bytes, date,
 *     timestamp, json
 * @param key names of the columns that tell rows apart; empty where none do
 * @param upsert whether a row replaces the one of the same key
 * @param creates whether a missing table is made
 * @param batchRows most rows that one request carries
 * @param store how the sink stores rows, where it has several ways
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

    /** Where the key's columns stand among all. */
    public int[] keyPlaces() {
        return key.stream().mapToInt(columns::indexOf).toArray();
    }
}
