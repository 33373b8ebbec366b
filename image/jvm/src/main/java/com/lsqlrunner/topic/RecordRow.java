package com.lsqlrunner.topic;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A record as a row with the columns of {@link #SCHEMA}. One object is used for all records of a task. It refers to the
 * bytes of the record and does not copy them.
 */
public final class RecordRow extends GenericInternalRow {
    private static final long serialVersionUID = 1L;

    /**
     * The columns of Spark's Kafka source, but the timestamp is a LONG in milliseconds since 1970 UTC, as in Kafka:
     * Spark's type overflows if a producer has written nanoseconds. Without a timestamp the column is -1.
     */
    public static final StructType SCHEMA = new StructType()
            .add("key", DataTypes.BinaryType)
            .add("value", DataTypes.BinaryType)
            .add("topic", DataTypes.StringType)
            .add("partition", DataTypes.IntegerType)
            .add("offset", DataTypes.LongType)
            .add("timestamp", DataTypes.LongType)
            .add("timestampType", DataTypes.IntegerType)
            .add("headers", DataTypes.createArrayType(RecordColumns.HEADER));

    private static final int KEY = 0;
    private static final int VALUE = 1;
    private static final int TOPIC = 2;
    private static final int PARTITION = 3;
    private static final int OFFSET = 4;
    private static final int TIMESTAMP = 5;
    private static final int TIMESTAMP_TYPE = 6;
    private static final int HEADERS = 7;
    private static final int COLUMNS = 8;

    private String topic;

    public RecordRow() {
        super(COLUMNS);
    }

    /** Sets all columns. They are valid until the next call. */
    public void set(ConsumerRecord<byte[], byte[]> record) {
        if (!record.topic().equals(topic)) {
            topic = record.topic();
            update(TOPIC, UTF8String.fromString(topic));
        }
        update(KEY, record.key());
        update(VALUE, record.value());
        update(PARTITION, record.partition());
        update(OFFSET, record.offset());
        update(TIMESTAMP, record.timestamp());
        update(TIMESTAMP_TYPE, record.timestampType().id);
        update(HEADERS, array(record.headers()));
    }

    /** The headers as an array of names and values; null for a record without headers, as in Spark's source. */
    private static GenericArrayData array(Headers headers) {
        Header[] all = headers.toArray();
        if (all.length == 0) {
            return null;
        }
        Object[] rows = new Object[all.length];
        for (int index = 0; index < all.length; index++) {
            Object[] header = {UTF8String.fromString(all[index].key()), all[index].value()};
            rows[index] = new GenericInternalRow(header);
        }
        return new GenericArrayData(rows);
    }

    @Override
    public GenericInternalRow copy() {
        return new GenericInternalRow(values().clone());
    }
}
