package com.lsqlrunner.policies;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.lsqlrunner.errors.Condition;
import com.lsqlrunner.errors.LsqlException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.AbstractRecords;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.SimpleRecord;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * The size limits for records of a topic. The producer checks the size before compression; the broker checks the size
 * of a batch that contains only this record. Records are structs of {@link #KEY}, {@link #VALUE} and {@link #HEADERS}.
 */
final class SizeLimits {
    static final int KEY = 0;
    static final int VALUE = 1;
    static final int HEADERS = 2;
    static final StructType HEADER =
            new StructType().add("key", DataTypes.StringType).add("value", DataTypes.BinaryType);
    static final StructType RECORD = new StructType()
            .add("key", DataTypes.BinaryType)
            .add("value", DataTypes.BinaryType)
            .add("headers", new ArrayType(HEADER, true));

    private static final ObjectMapper JSON = new ObjectMapper();

    private final int batchBytes;
    private final int requestBytes;
    private final int batchHeaderBytes;
    private final Compression compression;

    private SizeLimits(JsonNode limits) {
        batchBytes = limits.get("batch_bytes").asInt();
        requestBytes = limits.get("request_bytes").asInt();
        batchHeaderBytes = limits.get("header_bytes").asInt();
        compression = Compression.of(limits.get("compression").asText()).build();
    }

    /**
     * Parses limits in JSON: {@code batch_bytes} and {@code request_bytes}, the limits of the topic and of the
     * producer; {@code header_bytes}, the size of the batch header, which is added to every record later;
     * {@code compression} of the producer.
     */
    static SizeLimits of(String json) {
        try {
            return new SizeLimits(JSON.readTree(json));
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** The error of a record that is too large. */
    LsqlException tooLarge(int bytes) {
        String limit = String.valueOf(Math.min(batchBytes, requestBytes));
        return new LsqlException(
                Condition.LSQL_RECORD_TOO_LARGE, Map.of("bytes", String.valueOf(bytes), "limit_bytes", limit));
    }

    /** The size in bytes of a record that is too large, else 0. */
    int sizeIfTooLarge(InternalRow record) {
        byte[] key = record.isNullAt(KEY) ? null : record.getBinary(KEY);
        byte[] value = record.isNullAt(VALUE) ? null : record.getBinary(VALUE);
        Header[] headers = headers(record);
        int uncompressed = AbstractRecords.estimateSizeInBytesUpperBound(
                RecordBatch.CURRENT_MAGIC_VALUE, CompressionType.NONE, key, value, headers);
        if (uncompressed > requestBytes) {
            return uncompressed;
        }
        if (uncompressed <= batchBytes) {
            return 0;
        }
        int compressed = MemoryRecords.withRecords(compression, new SimpleRecord(0L, key, value, headers))
                .sizeInBytes();
        return compressed > batchBytes ? compressed : 0;
    }

    private Header[] headers(InternalRow record) {
        ArrayData given = record.isNullAt(HEADERS) ? null : record.getArray(HEADERS);
        int count = given == null ? 0 : given.numElements();
        Header[] headers = new Header[count + 1];
        for (int i = 0; i < count; i++) {
            InternalRow header = given.getStruct(i, 2);
            headers[i] = new RecordHeader(
                    header.getUTF8String(0).toString(), header.isNullAt(1) ? null : header.getBinary(1));
        }
        headers[count] = new RecordHeader("", new byte[batchHeaderBytes]);
        return headers;
    }
}
