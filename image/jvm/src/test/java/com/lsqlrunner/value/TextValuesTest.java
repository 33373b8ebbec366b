package com.lsqlrunner.value;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.expression.ValueText;
import java.time.Duration;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Valid and invalid texts of each type. */
final class TextValuesTest {
    private static Object read(String type, String text) {
        return TextValues.of(Types.named(type)).read(UTF8String.fromString(text));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "string| é x | é x ",
                "int|-7|-7",
                "int|+7|7",
                "int| 7\t|7",
                "long|9223372036854775807|9223372036854775807",
                "double|1|1.0",
                "double|-.5e3|-500.0",
                "double|NaN|NaN",
                "double|-INF|-Infinity",
                "float|1.5|1.5",
                "boolean|TRUE|true",
                "boolean|0|false",
                "decimal(5,2)|1.5|1.50",
                "decimal(5,2)|-123.4500|-123.45",
                "decimal(5,2)|1.2e2|120.00",
                "decimal(5,2)|0e400|0.00",
                "date|2026-03-01|20513",
                "time|12:00|43200000000000",
                "time| 12:00:00.000001 |43200000001000",
                "timestamp|2026-03-01T12:00:00Z|1772366400000000",
                "timestamp|2026-03-01 12:00:00|1772366400000000",
                "timestamp|2026-03-01T13:00:00.000001+01:00|1772366400000001"
            })
    void aValidTextIsRead(String type, String text, String shown) {
        assertEquals(shown, ValueText.of(read(type, text)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "int|x",
                "int|1.0",
                "int|2147483648",
                "int|''",
                "int|1 2",
                "int|0x10",
                "long|9223372036854775808",
                "long|1e3",
                "long|1L",
                "double|1d",
                "double|0x1p3",
                "double|1e400",
                "double|nan",
                "double|1e",
                "double|.",
                "double|''",
                "float|1e39",
                "boolean|yes",
                "boolean|''",
                "decimal(5,2)|1000",
                "decimal(5,2)|0.001",
                "decimal(5,2)|1e400000",
                "decimal(5,2)|1e-400000",
                "decimal(5,2)|1e999999999999",
                "decimal(5,2)|NaN",
                "date|2026-02-30",
                "date|x",
                "date|''",
                "time|24:00:00",
                "time|12",
                "timestamp|12:00:00",
                "timestamp|2026-02-30T00:00:00Z",
                "timestamp|''"
            })
    void anInvalidTextIsMalformed(String type, String text) {
        MalformedRecordException error = assertThrows(MalformedRecordException.class, () -> read(type, text));

        assertEquals("\"%s\" is not a valid %s".formatted(text, type), error.reason());
    }

    @Test
    void aNumberOfAMillionDigitsIsRefusedWithoutDelay() {
        for (String type : new String[] {"int", "long", "double", "decimal(38,0)"}) {
            Assertions.assertTimeout(
                    Duration.ofSeconds(2),
                    () -> assertThrows(MalformedRecordException.class, () -> read(type, "9".repeat(1_000_000))));
        }
    }

    @Test
    void bytesThatAreNotUtf8AreMalformed() {
        UTF8String text = UTF8String.fromBytes(new byte[] {'a', (byte) 0xff});

        assertThrows(MalformedRecordException.class, () -> TextValues.of(Types.named("string"))
                .read(text));
    }
}
