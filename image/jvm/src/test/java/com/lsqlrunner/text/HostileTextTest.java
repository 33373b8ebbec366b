package com.lsqlrunner.text;

import static com.lsqlrunner.bytes.HostileRecord.TOO_DEEP;
import static com.lsqlrunner.bytes.HostileRecord.TOO_MANY;
import static com.lsqlrunner.bytes.HostileRecord.assertRefused;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.lsqlrunner.value.Types;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Documents and lines that claim many values, or elements nested in one another. */
final class HostileTextTest {
    private static final StructType TYPE =
            Types.struct("line", Types.array(wide(200)), "tag", Types.array(Types.named("int")));

    private static StructType wide(int fields) {
        Object[] all = new Object[2 * fields];
        for (int i = 0; i < fields; i++) {
            all[2 * i] = "f" + i;
            all[2 * i + 1] = Types.named("long");
        }
        return Types.struct(all);
    }

    private static Object decoded(String text) {
        return new XmlDecoder(TYPE, "").decode(text.getBytes(UTF_8));
    }

    @Test
    void theFieldsOfEmptyElementsAreCounted() {
        String text = "<o>" + "<line/>".repeat(100_000) + "</o>";

        assertRefused("field line[27451]: " + TOO_MANY.formatted(42), () -> decoded(text));
    }

    @Test
    void aDocumentWithManySmallElementsIsRead() {
        GenericInternalRow row = (GenericInternalRow) decoded("<o>" + "<tag/>".repeat(500_000) + "</o>");

        assertEquals(500_000, row.getArray(1).numElements());
    }

    @ParameterizedTest
    @CsvSource({"<a>, ''", "<line><a>, 'field line[0]: '"})
    void elementsMayBeNested500LevelsDeep(String start, String field) {
        assertRefused(field + TOO_DEEP, () -> decoded("<o>" + start.repeat(100_000)));
    }

    @Test
    void columnsBeyondTheDeclaredOnesAreOnlyCounted() {
        CsvDecoder decoder =
                new CsvDecoder(Types.struct("id", Types.named("long")), List.of("id", "who"), ",", "\"", "");
        byte[] line = ",".repeat(50_000_000).getBytes(UTF_8);

        assertRefused("it has 50000001 columns, not 2", () -> decoder.decode(line));
        assertEquals(7L, decoder.decode("7,x".getBytes(UTF_8)).getLong(0));
    }
}
