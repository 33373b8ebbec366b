package com.lsqlrunner.sink;

import static com.lsqlrunner.errors.HiddenValues.hiding;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.lsqlrunner.errors.Condition;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SinkExceptionTest {
    private static final SinkTable TABLE =
            new SinkTable("t", List.of("id", "name"), List.of("long", "string"), List.of("id"), true, false, 10, "");

    @Test
    void theReasonIsOneLine() {
        SinkException error = SinkException.of(Condition.LSQL_SINK_REFUSED, "a \"name\"\n\tis \\ grün");

        assertEquals("LSQL_SINK_REFUSED", error.getCondition());
        assertEquals(Map.of("reason", "a \"name\" is \\ grün"), error.getMessageParameters());
    }

    @Test
    void aRowIsIdentifiedByItsRecord() {
        SinkRow row = new SinkRow("topic", 3, 1L << 40, false, new Object[] {1L, "a"});

        SinkException error = SinkException.row(TABLE, row, "no");

        assertEquals("LSQL_SINK_ROW_REFUSED", error.getCondition());
        assertEquals(
                Map.of("reason", "no", "topic", "topic", "partition", "3", "offset", "1099511627776"),
                error.getMessageParameters());
    }

    @Test
    void aRowWithoutARecordIsIdentifiedByItsKey() {
        SinkRow row = new SinkRow(null, 0, 0, false, new Object[] {7L, "a"});

        assertEquals(
                Map.of("reason", "no", "row", "id=7"),
                SinkException.row(TABLE, row, "no").getMessageParameters());
        assertEquals(
                "id=***",
                hiding(() -> SinkException.row(TABLE, row, "no"))
                        .getMessageParameters()
                        .get("row"));
    }
}
