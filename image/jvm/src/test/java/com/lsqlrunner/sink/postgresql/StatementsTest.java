package com.lsqlrunner.sink.postgresql;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.lsqlrunner.sink.SinkTable;
import java.util.List;
import org.junit.jupiter.api.Test;

class StatementsTest {
    private static Statements of(List<String> columns, List<String> types, List<String> key) {
        return new Statements(new SinkTable("Shop.my \"t\"", columns, types, key, true, true, 10, ""));
    }

    private static final Statements TABLE = of(List.of("id", "a b"), List.of("long", "decimal(9,2)"), List.of("id"));

    @Test
    void namesAreQuoted() {
        assertEquals("\"Shop\".\"my \"\"t\"\"\"", TABLE.name());
        assertEquals("\"Shop\".lsql_batches", TABLE.batchTable());
    }

    @Test
    void anUpsertReplacesTheColumnsOutsideTheKey() {
        assertEquals(
                "INSERT INTO \"Shop\".\"my \"\"t\"\"\" (\"id\", \"a b\") VALUES (?, ?)"
                        + " ON CONFLICT (\"id\") DO UPDATE SET \"a b\" = excluded.\"a b\"",
                TABLE.upsert());
    }

    @Test
    void anUpsertOfOnlyKeyColumnsReplacesNothing() {
        String sql = of(List.of("id"), List.of("long"), List.of("id")).upsert();

        assertEquals(" ON CONFLICT (\"id\") DO NOTHING", sql.substring(sql.indexOf(" ON ")));
    }

    @Test
    void aDeleteComparesAllKeyColumns() {
        String sql =
                of(List.of("a", "b"), List.of("int", "int"), List.of("a", "b")).delete();

        assertEquals("\"a\" = ? AND \"b\" = ?", sql.substring(sql.indexOf("WHERE ") + 6));
    }

    @Test
    void aTableIsCreatedWithTypesAndKey() {
        String sql = TABLE.create();

        assertEquals("(\"id\" bigint, \"a b\" numeric(9,2), PRIMARY KEY (\"id\"))", sql.substring(sql.indexOf('(')));
    }
}
