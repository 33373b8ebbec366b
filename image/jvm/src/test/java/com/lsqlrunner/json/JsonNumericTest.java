package com.lsqlrunner.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.value.NumericArithmetic;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Numbers that need not be whole: LONG in JSON, a decimal or the text of the number in Spark. */
class JsonNumericTest {
    private static final StructType DECLARED = of(DataTypes.LongType, DataTypes.LongType);
    private static final StructType COMPUTED = of(NumericArithmetic.TYPE, DataTypes.LongType);
    private static final StructType PASSED = of(DataTypes.StringType, DataTypes.LongType);

    private static StructType of(DataType kind, DataType other) {
        return new StructType()
                .add("n", kind)
                .add("xs", DataTypes.createArrayType(kind))
                .add("o", other);
    }

    private static InternalRow fast(StructType type, String record) {
        return JsonObjectReader.of(DECLARED, type).read(record.getBytes(UTF_8));
    }

    private static InternalRow strict(StructType type, String record) {
        return new JsonRecordReader(DECLARED, type).read(record.getBytes(UTF_8));
    }

    private static String written(StructType type, InternalRow row) {
        return new String(JsonObjectWriter.of(DECLARED, type).write(row), UTF_8);
    }

    @ParameterizedTest
    @CsvSource({
        "1, 1",
        "0, 0",
        "-0, 0",
        "1.0, 1",
        "-5.50, -5.5",
        "1e0, 1",
        "1e3, 1000",
        "0.000000000000000001, 0.000000000000000001",
        "9007199254740993, 9007199254740993",
        "9223372036854775808, 9223372036854775808",
        "99999999999999999999, 99999999999999999999",
        "123456789012345678.5, 123456789012345678.5"
    })
    void numbersAreExactAndWrittenWithoutZeros(String number, String expected) {
        String record = "{\"n\":%1$s,\"xs\":[%1$s,null],\"o\":1}".formatted(number);
        String text = "{\"n\":%1$s,\"xs\":[%1$s,null],\"o\":1}".formatted(expected);
        InternalRow row = strict(COMPUTED, record);

        assertEquals(text, written(COMPUTED, row));
        InternalRow fastRow = fast(COMPUTED, record);
        if (fastRow != null) {
            assertEquals(text, written(COMPUTED, fastRow));
        }
        assertEquals(record, written(PASSED, fast(PASSED, record)));
        assertEquals(record, written(PASSED, strict(PASSED, record)));
    }

    @Test
    void theFastReaderReadsNumbersWithUpTo18Digits() {
        for (String number : List.of("1", "-5.5", "123456789012345678")) {
            assertEquals(strict(COMPUTED, "{\"n\":" + number + "}"), fast(COMPUTED, "{\"n\":" + number + "}"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"100000000000000000000", "1e30", "0.1234567890123456789", "1e-19", "1e99999"})
    void aNumberThatDoesNotFitIsMalformedOnlyIfItIsComputedWith(String number) {
        String record = "{\"n\":" + number + "}";

        assertNull(fast(COMPUTED, record));
        assertThrows(MalformedRecordException.class, () -> strict(COMPUTED, record));
        assertEquals(number, strict(PASSED, record).getUTF8String(0).toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"1\"", "true", "{}", "[]", "\"NaN\""})
    void whatIsNoNumberIsMalformed(String value) {
        String record = "{\"n\":" + value + "}";

        for (StructType type : List.of(COMPUTED, PASSED)) {
            assertNull(fast(type, record));
            assertThrows(MalformedRecordException.class, () -> strict(type, record));
        }
    }
}
