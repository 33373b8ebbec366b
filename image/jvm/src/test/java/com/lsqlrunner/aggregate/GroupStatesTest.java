package com.lsqlrunner.aggregate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lsqlrunner.errors.LsqlException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class GroupStatesTest {
    private static final int ROUNDS = 300;

    private record Row(Object value, long time, long offset) {}

    private static GroupStates keeping(KeepFunction kind, int limit, DataType type) {
        return new GroupStates(kind, limit, type, GroupStatesTest::compare, kind.byPlace ? 2 : 0, false);
    }

    private static GroupStates retracting(KeepFunction kind, int limit) {
        return new GroupStates(kind, limit, DataTypes.StringType, GroupStatesTest::compare, kind.byPlace ? 2 : 0, true);
    }

    @SuppressWarnings("unchecked")
    private static int compare(Object one, Object other) {
        return one instanceof UTF8String text
                ? Arrays.compareUnsigned(text.getBytes(), ((UTF8String) other).getBytes())
                : ((Comparable<Object>) one).compareTo(other);
    }

    private static KeptEntries over(GroupStates groups, List<Row> rows) {
        KeptEntries kept = groups.start();
        rows.forEach(row -> groups.add(kept, row.value, new long[] {row.time, row.offset}, 1));
        return kept;
    }

    private static Row random(Random random) {
        // Few different ones, so that values and places are often equal.
        UTF8String value = UTF8String.fromString("v" + random.nextInt(6));
        return new Row(value, random.nextInt(4), random.nextInt(4));
    }

    /** The rows in parts, each written and read again, put together in any order. */
    private static KeptEntries inParts(GroupStates groups, List<Row> rows, Random random) {
        List<byte[]> parts = new ArrayList<>();
        for (int start = 0; start < rows.size(); ) {
            int end = Math.min(rows.size(), start + 1 + random.nextInt(5));
            parts.add(groups.write(over(groups, rows.subList(start, end))));
            start = end;
        }
        Collections.shuffle(parts, random);
        KeptEntries whole = groups.start();
        for (byte[] part : parts) {
            groups.merge(whole, groups.read(part));
            if (random.nextBoolean()) {
                whole = groups.read(groups.write(whole));
            }
        }
        return whole;
    }

    private static Object result(GroupStates groups, KeptEntries kept) {
        Object found = groups.result(kept);
        return found instanceof ArrayData array ? Arrays.asList(((GenericArrayData) array).array()) : found;
    }

    @ParameterizedTest
    @EnumSource(KeepFunction.class)
    void theResultDependsOnTheRowsAndNotOnHowTheyWereDivided(KeepFunction kind) {
        Random random = new Random(7);
        for (int round = 0; round < ROUNDS; round++) {
            List<Row> rows = new ArrayList<>();
            for (int n = random.nextInt(30); n >= 0; n--) {
                rows.add(random(random));
            }
            GroupStates groups = keeping(kind, kind.single ? 1 : 1 + random.nextInt(5), DataTypes.StringType);
            Object expected = result(groups, over(groups, rows));
            Collections.shuffle(rows, random);
            assertEquals(expected, result(groups, inParts(groups, rows, random)));
        }
    }

    /** Rows come and some of them go again, in any order and in parts: the result is that of those which stay. */
    @ParameterizedTest
    @EnumSource(KeepFunction.class)
    void whatWasTakenOutHasLeftNothing(KeepFunction kind) {
        Random random = new Random(11);
        for (int round = 0; round < ROUNDS; round++) {
            int limit = kind.single ? 1 : 1 + random.nextInt(5);
            GroupStates groups = retracting(kind, limit);
            List<Row> staying = new ArrayList<>();
            List<byte[]> parts = new ArrayList<>();
            for (int n = random.nextInt(30); n >= 0; n--) {
                Row row = random(random);
                boolean goes = random.nextBoolean();
                for (long count : goes ? new long[] {1, -1} : new long[] {1}) {
                    KeptEntries part = groups.start();
                    groups.add(part, row.value, new long[] {row.time, row.offset}, count);
                    parts.add(groups.write(part));
                }
                if (!goes) {
                    staying.add(row);
                }
            }
            Collections.shuffle(parts, random);
            KeptEntries whole = groups.start();
            for (byte[] part : parts) {
                groups.merge(whole, groups.read(part));
                whole = groups.read(groups.write(whole));
            }
            GroupStates plain = keeping(kind, limit, DataTypes.StringType);
            assertEquals(result(plain, over(plain, staying)), result(groups, whole));
        }
    }

    private static void assertSurvives(DataType type, Object... values) {
        GroupStates groups = keeping(KeepFunction.COLLECT, values.length, type);
        List<Row> rows = new ArrayList<>();
        for (int n = 0; n < values.length; n++) {
            rows.add(new Row(values[n], n, n));
        }
        KeptEntries read = groups.read(groups.write(over(groups, rows)));
        assertEquals(Arrays.asList(values), result(groups, read));
    }

    @Test
    void valuesOfEveryTypeSurviveBeingWritten() {
        assertSurvives(DataTypes.LongType, 0L, -1L, Long.MIN_VALUE, Long.MAX_VALUE);
        assertSurvives(DataTypes.IntegerType, 0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE);
        assertSurvives(DataTypes.TimestampType, -1L, 1_709_211_845_678_000L);
        assertSurvives(DataTypes.DateType, -1, 19_782);
        assertSurvives(DataTypes.DoubleType, 0.0, -1.5, Double.NaN, Double.NEGATIVE_INFINITY, Double.MIN_VALUE);
        assertSurvives(DataTypes.FloatType, 0.0f, 0.1f, Float.NaN);
        assertSurvives(DataTypes.BooleanType, true, false);
        assertSurvives(DataTypes.StringType, UTF8String.fromString(""), UTF8String.fromString("é😀"));
        assertSurvives(DataTypes.createDecimalType(10, 2), Decimal.apply("-12.50"), Decimal.apply("0.00"));
        assertSurvives(DataTypes.createDecimalType(38, 18), Decimal.apply("99999999999999999999.000000000000000001"));
    }

    @Test
    void formsOfZeroAreOneValue() {
        GroupStates groups = keeping(KeepFunction.TOPK, 3, DataTypes.DoubleType);
        KeptEntries kept = over(groups, List.of(new Row(-0.0, 1, 1), new Row(0.0, 2, 2), new Row(1.0, 3, 3)));
        assertEquals(List.of(0.0, 1.0), result(groups, kept));
    }

    @Test
    void aGroupThatIsTooLargeIsRefused() {
        GroupStates groups = keeping(KeepFunction.COLLECT, 100, DataTypes.StringType);
        UTF8String large = UTF8String.fromString("x".repeat(1 << 20));
        List<Row> rows = new ArrayList<>();
        for (int n = 0; n < 15; n++) {
            rows.add(new Row(large, n, n));
        }
        assertTrue(groups.write(over(groups, rows)).length > 15 << 20);
        rows.add(new Row(large, 15, 15));
        KeptEntries kept = over(groups, rows);
        LsqlException error = assertThrows(LsqlException.class, () -> groups.write(kept));
        assertEquals("LSQL_GROUP_TOO_LARGE", error.getCondition());
        assertEquals("COLLECT", error.getMessageParameters().get("aggregate"));
    }

    @Test
    void aStateOfAnotherVersionIsRefused() {
        GroupStates groups = keeping(KeepFunction.FIRST, 1, DataTypes.LongType);
        byte[] state = groups.write(over(groups, List.of(new Row(1L, 1, 1))));
        state[0]++;
        assertThrows(IllegalStateException.class, () -> groups.read(state));
    }
}
