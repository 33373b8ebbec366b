package com.lsqlrunner.avro;

import static com.lsqlrunner.errors.HiddenValues.SECRET;
import static com.lsqlrunner.errors.HiddenValues.reason;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;

/** Errors of AVRO without the values of the record. */
final class HiddenValuesTest {
    private static String refusal(String field) {
        RecordEncoder encoder = new RecordEncoder(
                new StructType().add("f", DataTypes.StringType), Records.record(Records.field("f", field)), Records.ID);
        return reason(() -> encoder.encode(new GenericInternalRow(new Object[] {UTF8String.fromString(SECRET)})));
    }

    @Test
    void aTextThatIsNoSymbolIsDescribedByItsLength() {
        assertEquals(
                "field f: the enum E has no such symbol: a text of 6 bytes",
                refusal("{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\"]}"));
    }

    @Test
    void aTextThatIsNoUuidIsDescribedByItsLength() {
        assertEquals(
                "field f: a text of 6 bytes is not a UUID",
                refusal("{\"type\":\"fixed\",\"name\":\"U\",\"size\":16,\"logicalType\":\"uuid\"}"));
    }

    @Test
    void aSymbolOfTheWriterIsNotShown() {
        Schema writer = Records.schema("{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"s3cr3t\"]}");
        Schema reader = Records.schema("{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\"]}");
        byte[] record = Records.bytes(Records.ID, writer, new GenericData.EnumSymbol(writer, SECRET));

        assertEquals("the enum has no such symbol", reason(() -> Records.decoded(writer, reader, record)));
    }

    @Test
    void aKeyOfAMapIsNotShown() {
        Schema schema = Records.record(Records.field("m", "{\"type\":\"map\",\"values\":\"boolean\"}"));
        byte[] record = Records.bytes(Records.ID, schema, Records.of(schema, Map.of(SECRET, true)));
        record[record.length - 2] = 2;

        assertEquals("field m{}: a boolean is neither 0 nor 1", reason(() -> Records.decoded(schema, schema, record)));
    }

    @Test
    void aByteThatIsNoSchemaIdIsNotShown() {
        Schema schema = Records.schema("\"string\"");

        assertEquals("the first byte is not 0", reason(() -> Records.decoded(schema, schema, SECRET.getBytes())));
    }
}
