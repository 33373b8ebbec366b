package com.lsqlrunner.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.errors.MalformedRecordException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Values of unknown type are read and written as the JSON that stands in the record. */
class JsonOfUnknownTypeTest {
    private static final StructType DECLARED =
            new StructType().add("v", DataTypes.VariantType).add("n", DataTypes.LongType);
    private static final StructType TYPE =
            new StructType().add("v", DataTypes.StringType).add("n", DataTypes.LongType);

    private static InternalRow fast(String record) {
        return JsonObjectReader.of(DECLARED, TYPE).read(record.getBytes(UTF_8));
    }

    private static InternalRow strict(String record) {
        return new JsonRecordReader(DECLARED, TYPE).read(record.getBytes(UTF_8));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "[]",
                "{\"a\": [1.50, {\"b\":null}]}",
                "\"\"",
                "\"\\u0061\\\"é\"",
                "0",
                "-1.50e+3",
                "12345678901234567890.10",
                "true",
                "false"
            })
    void everyValueKeepsItsText(String value) {
        String record = "{ \"v\" : " + value + " ,\"n\":1}";

        assertEquals(value, fast(record).getUTF8String(0).toString());
        assertEquals(value, strict(record).getUTF8String(0).toString());
        assertEquals(
                value, strict("{\"n\":1,\"v\":" + value + "}").getUTF8String(0).toString());
        byte[] written = JsonObjectWriter.of(DECLARED, TYPE).write(strict(record));
        assertEquals("{\"v\":" + value + ",\"n\":1}", new String(written, UTF_8));
    }

    @Test
    void nullIsNull() {
        assertNull(fast("{\"v\":null}").getUTF8String(0));
        assertNull(strict("{\"v\":null}").getUTF8String(0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"a\":1,}", "[1", "01", "nul", "'a'", "{\"a\":NaN}", "\"\\x\""})
    void whatIsNotJsonIsMalformed(String value) {
        String record = "{\"v\":" + value + "}";

        assertNull(fast(record));
        assertThrows(MalformedRecordException.class, () -> strict(record));
    }
}
