package com.lsqlrunner.expression;

import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;

/**
 * Catalyst values as text: a row is {@code (1 a)}, an array {@code [1 2]}, a map {@code {k=1}}, bytes are hexadecimal.
 */
public final class ValueText {
    private ValueText() {}

    public static String of(Object value) {
        if (value instanceof GenericInternalRow row) {
            return IntStream.range(0, row.numFields())
                    .mapToObj(i -> of(row.genericGet(i)))
                    .collect(Collectors.joining(" ", "(", ")"));
        }
        if (value instanceof GenericArrayData items) {
            return IntStream.range(0, items.numElements())
                    .mapToObj(i -> of(items.array()[i]))
                    .collect(Collectors.joining(" ", "[", "]"));
        }
        if (value instanceof ArrayBasedMapData map) {
            Object[] keys = ((GenericArrayData) map.keyArray()).array();
            Object[] values = ((GenericArrayData) map.valueArray()).array();
            Map<String, String> items = new TreeMap<>(); // maps have no order
            IntStream.range(0, keys.length).forEach(i -> items.put(keys[i].toString(), of(values[i])));
            return items.toString();
        }
        return value instanceof byte[] bytes ? HexFormat.of().formatHex(bytes) : String.valueOf(value);
    }
}
