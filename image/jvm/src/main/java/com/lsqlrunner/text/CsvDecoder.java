package com.lsqlrunner.text;

import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.value.TextValues;
import com.lsqlrunner.value.TextValues.TextReader;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Decodes records of one line of CSV without a header. An empty column is null. Not thread-safe. */
final class CsvDecoder {
    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

    private final CsvLine line;
    private final UTF8String nullText;
    private final String[] names;
    private final int[] columns;
    private final TextReader[] readers;
    private final boolean[] isText;

    /**
     * @param type the columns to read
     * @param names of all columns
     * @param nullText the text that stands for null, like an empty column
     */
    CsvDecoder(StructType type, List<String> names, String delimiter, String quote, String nullText) {
        this.nullText = UTF8String.fromString(nullText);
        this.names = names.toArray(String[]::new);
        this.line = new CsvLine(delimiter, quote, this.names);
        StructField[] fields = type.fields();
        columns = Arrays.stream(fields)
                .mapToInt(field -> names.indexOf(field.name()))
                .toArray();
        readers = Arrays.stream(fields)
                .map(field -> TextValues.of(field.dataType()))
                .toArray(TextReader[]::new);
        isText = new boolean[fields.length];
        for (int i = 0; i < fields.length; i++) {
            isText[i] = fields[i].dataType() instanceof StringType;
        }
    }

    GenericInternalRow decode(byte[] record) {
        int count = line.read(withoutMark(record));
        if (count != names.length) {
            throw new MalformedRecordException("it has %d columns, not %d".formatted(count, names.length));
        }
        Object[] values = new Object[columns.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = value(i);
        }
        return new GenericInternalRow(values);
    }

    /** The record without a byte order mark, which is not part of the first column. */
    private static byte[] withoutMark(byte[] record) {
        boolean isMarked = record.length >= BYTE_ORDER_MARK.length
                && Arrays.equals(record, 0, BYTE_ORDER_MARK.length, BYTE_ORDER_MARK, 0, BYTE_ORDER_MARK.length);
        return isMarked ? Arrays.copyOfRange(record, BYTE_ORDER_MARK.length, record.length) : record;
    }

    private Object value(int field) {
        int column = columns[field];
        UTF8String text = line.text(column);
        boolean isQuoted = line.isQuoted(column);
        boolean isNull = text.numBytes() == 0 ? !isQuoted || !isText[field] : !isQuoted && text.equals(nullText);
        try {
            return isNull ? null : readers[field].read(text);
        } catch (MalformedRecordException error) {
            throw error.inField(names[column]);
        }
    }
}
