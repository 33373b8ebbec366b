package com.lsqlrunner.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.errors.MalformedRecordException;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The field that the error of a malformed record names. tests/streams has values of another type. */
final class FailingFieldTest {
    private static final StructType ADDRESS =
            new StructType().add("zip", DataTypes.IntegerType).add("street", DataTypes.StringType);
    private static final StructType TYPE = new StructType()
            .add("id", DataTypes.IntegerType)
            .add("address", ADDRESS)
            .add("numbers", DataTypes.createArrayType(DataTypes.LongType))
            .add("homes", DataTypes.createMapType(DataTypes.StringType, ADDRESS))
            .add("rows", DataTypes.createArrayType(ADDRESS));

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{\"id\":99999999999} | id",
                "{\"other\":{\"id\":1},\"id\":99999999999,\"numbers\":[1]} | id",
                "{\"address\":{\"street\":\"x\",\"zip\":99999999999},\"id\":1} | address.zip",
                "{\"address\":{\"other\":{\"zip\":1},\"zip\":99999999999},\"id\":1} | address.zip",
                "{\"numbers\":[1,2,99999999999999999999]} | numbers[2]",
                "{\"homes\":{\"a\":{\"zip\":1},\"b\":{\"zip\":99999999999}}} | homes.b.zip",
                "{\"rows\":[{\"zip\":1},{\"zip\":99999999999}]} | rows[1].zip",
                "{\"id\":99999999999,\"numbers\":[99999999999999999999]} | id",
                "{\"id\":1,\"address\":{\"zip\":1 | address.zip",
                "{\"rows\":[{\"zip\":tru}]} | rows[0].zip"
            })
    void theFirstValueThatCannotBeReadIsNamed(String record, String field) {
        String reason = assertThrows(MalformedRecordException.class, () -> new JsonRecordReader(TYPE, TYPE)
                        .read(record.getBytes(UTF_8)))
                .reason();

        assertEquals("field " + field, reason.split(": ", 2)[0], reason);
    }
}
