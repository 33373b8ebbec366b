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
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class GroupStatesTest {
    private static final int ROUNDS = 300;

    private record Row(Object value, long time, long offset) {}

    private static GroupStates groupStates(KeepFunction function, int limit, DataType type) {
        return new GroupStates(function, limit, type, GroupStatesTest::compare, function.usesOrder ? 2 : 0, false);
    }

    private static GroupStates retracting(KeepFunction function, int limit) {
        return new GroupStates(
                function, limit, DataTypes.StringType, GroupStatesTest::compare, function.usesOrder ? 2 : 0, true);
    }

    @SuppressWarnings("unchecked")
    private static int compare(Object left, Object right) {
        return left instanceof UTF8String text
                ? Arrays.compareUnsigned(text.getBytes(), ((UTF8String) right).getBytes())
                : ((Comparable<Object>) left).compareTo(right);
    }

    /** The state of a group to which the rows were added. */
    private static KeptEntries added(GroupStates groups, List<Row> rows) {
        KeptEntries kept = groups.empty();
        rows.forEach(row -> groups.add(kept, row.value, new long[] {row.time, row.offset}, 1));
        return kept;
    }

    private static Row random(Random random) {
        // Few different values, so that values and sort keys are often equal.
        UTF8String value = UTF8String.fromString("v" + random.nextInt(6));
        return new Row(value, random.nextInt(4), random.nextInt(4));
    }

    /** The same state, merged in random order from the states of subsets of the rows, which are written and read. */
    private static KeptEntries merged(GroupStates groups, List<Row> rows, Random random) {
        List<byte[]> states = new ArrayList<>();
        for (int start = 0; start < rows.size(); ) {
            int end = Math.min(rows.size(), start + 1 + random.nextInt(5));
            states.add(groups.write(added(groups, rows.subList(start, end))));
            start = end;
        }
        Collections.shuffle(states, random);
        KeptEntries whole = groups.empty();
        for (byte[] state : states) {
            groups.merge(whole, groups.read(state));
            if (random.nextBoolean()) {
                whole = groups.read(groups.write(whole));
            }
        }
        return whole;
    }

    private static Object result(GroupStates groups, KeptEntries kept) {
        Object result = groups.result(kept);
        return result instanceof ArrayData array ? Arrays.asList(((GenericArrayData) array).array()) : result;
    }

    @ParameterizedTest
    @EnumSource(KeepFunction.class)
    void theResultDoesNotDependOnHowRowsAreDivided(KeepFunction function) {
        Random random = new Random(7);
        for (int round = 0; round < ROUNDS; round++) {
            List<Row> rows = new ArrayList<>();
            for (int n = random.nextInt(30); n >= 0; n--) {
                rows.add(random(random));
            }
            GroupStates groups =
                    groupStates(function, function.isSingle ? 1 : 1 + random.nextInt(5), DataTypes.StringType);
            Object expected = result(groups, added(groups, rows));
            Collections.shuffle(rows, random);
            assertEquals(expected, result(groups, merged(groups, rows, random)));
        }
    }

    /**
     * Rows are added, some are retracted, and the states are merged in any order: the result is computed from the
     * remaining rows.
     */
    @ParameterizedTest
    @EnumSource(KeepFunction.class)
    void retractedValuesHaveNoEffect(KeepFunction function) {
        Random random = new Random(11);
        for (int round = 0; round < ROUNDS; round++) {
            int limit = function.isSingle ? 1 : 1 + random.nextInt(5);
            GroupStates groups = retracting(function, limit);
            List<Row> remaining = new ArrayList<>();
            List<byte[]> states = new ArrayList<>();
            for (int n = random.nextInt(30); n >= 0; n--) {
                Row row = random(random);
                boolean isRetracted = random.nextBoolean();
                for (long count : isRetracted ? new long[] {1, -1} : new long[] {1}) {
                    KeptEntries state = groups.empty();
                    groups.add(state, row.value, new long[] {row.time, row.offset}, count);
                    states.add(groups.write(state));
                }
                if (!isRetracted) {
                    remaining.add(row);
                }
            }
            Collections.shuffle(states, random);
            KeptEntries whole = groups.empty();
            for (byte[] state : states) {
                groups.merge(whole, groups.read(state));
                whole = groups.read(groups.write(whole));
            }
            GroupStates plain = groupStates(function, limit, DataTypes.StringType);
            assertEquals(result(plain, added(plain, remaining)), result(groups, whole));
        }
    }

    private static void assertReadAsWritten(DataType type, Object... values) {
        GroupStates groups = groupStates(KeepFunction.COLLECT, values.length, type);
        List<Row> rows = new ArrayList<>();
        for (int n = 0; n < values.length; n++) {
            rows.add(new Row(values[n], n, n));
        }
        KeptEntries read = groups.read(groups.write(added(groups, rows)));
        assertEquals(Arrays.asList(values), result(groups, read));
    }

    @Test
    void valuesOfEveryTypeAreReadAsWritten() {
        assertReadAsWritten(DataTypes.LongType, 0L, -1L, Long.MIN_VALUE, Long.MAX_VALUE);
        assertReadAsWritten(DataTypes.IntegerType, 0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE);
        assertReadAsWritten(DataTypes.TimestampType, -1L, 1_709_211_845_678_000L);
        assertReadAsWritten(new TimeType(TimeType.MICROS_PRECISION()), 0L, 86_399_999_999_000L);
        assertReadAsWritten(DataTypes.DateType, -1, 19_782);
        assertReadAsWritten(DataTypes.DoubleType, 0.0, -1.5, Double.NaN, Double.NEGATIVE_INFINITY, Double.MIN_VALUE);
        assertReadAsWritten(DataTypes.FloatType, 0.0f, 0.1f, Float.NaN);
        assertReadAsWritten(DataTypes.BooleanType, true, false);
        assertReadAsWritten(DataTypes.StringType, UTF8String.fromString(""), UTF8String.fromString("é😀"));
        assertReadAsWritten(DataTypes.createDecimalType(10, 2), Decimal.apply("-12.50"), Decimal.apply("0.00"));
        assertReadAsWritten(
                DataTypes.createDecimalType(38, 18), Decimal.apply("99999999999999999999.000000000000000001"));
    }

    @Test
    void allZerosAreOneValue() {
        GroupStates groups = groupStates(KeepFunction.TOPK, 3, DataTypes.DoubleType);
        KeptEntries kept = added(groups, List.of(new Row(-0.0, 1, 1), new Row(0.0, 2, 2), new Row(1.0, 3, 3)));
        assertEquals(List.of(0.0, 1.0), result(groups, kept));
    }

    @Test
    void aGroupAboveTheSizeLimitIsRefused() {
        GroupStates groups = groupStates(KeepFunction.COLLECT, 100, DataTypes.StringType);
        UTF8String large = UTF8String.fromString("x".repeat(1 << 20));
        List<Row> rows = new ArrayList<>();
        for (int n = 0; n < 15; n++) {
            rows.add(new Row(large, n, n));
        }
        assertTrue(groups.write(added(groups, rows)).length > 15 << 20);
        rows.add(new Row(large, 15, 15));
        KeptEntries kept = added(groups, rows);
        LsqlException error = assertThrows(LsqlException.class, () -> groups.write(kept));
        assertEquals("LSQL_GROUP_TOO_LARGE", error.getCondition());
        assertEquals("COLLECT", error.getMessageParameters().get("aggregate"));
    }

    @Test
    void aStateOfAnUnknownVersionIsRefused() {
        GroupStates groups = groupStates(KeepFunction.FIRST, 1, DataTypes.LongType);
        byte[] state = groups.write(added(groups, List.of(new Row(1L, 1, 1))));
        state[0]++;
        assertThrows(IllegalStateException.class, () -> groups.read(state));
    }
}
