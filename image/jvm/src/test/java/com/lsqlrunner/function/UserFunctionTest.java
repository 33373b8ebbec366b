package com.lsqlrunner.function;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lsqlrunner.errors.HiddenValues;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskContext$;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls of user-defined functions: values in both directions, and what the classes throw. */
class UserFunctionTest {
    private static final DataType DECIMAL = DataTypes.createDecimalType(10, 2);
    private static final StructType STRUCT =
            new StructType().add("name", DataTypes.StringType).add("total", DataTypes.LongType, false);

    @AfterEach
    void noTestLeavesTheThreadInterrupted() {
        Thread.interrupted();
    }

    private static UserFunction function(Class<?> type, DataType result, boolean nullable, DataType... arguments) {
        List<Boolean> required = Collections.nCopies(arguments.length, false);
        Declaration declared = new Declaration("F", type.getName(), required, result, nullable);
        return UserFunction.create(declared, List.of(arguments));
    }

    private static UserFunction same(DataType type) {
        return function(Functions.Same.class, type, true, type);
    }

    private static UserFunction throwing() {
        return function(Functions.Throwing.class, DataTypes.StringType, true, DataTypes.StringType);
    }

    private static UTF8String text(String text) {
        return UTF8String.fromString(text);
    }

    private static Object[] values(Object... values) {
        return values;
    }

    private static String failure(UserFunction function, Object... values) {
        FunctionException error = assertThrows(FunctionException.class, () -> function.call(values));
        assertEquals("LSQL_FUNCTION_FAILED", error.getCondition());
        return error.reason();
    }

    private static String unusable(Class<?> type) {
        FunctionException error = assertThrows(
                FunctionException.class, () -> function(type, DataTypes.StringType, true, DataTypes.StringType));
        assertEquals("LSQL_FUNCTION_UNUSABLE", error.getCondition());
        return error.reason();
    }

    @Test
    void scalarsKeepTheirValue() {
        assertEquals(7, same(DataTypes.IntegerType).call(values(7)));
        assertEquals(7L, same(DataTypes.LongType).call(values(7L)));
        assertEquals(7.5f, same(DataTypes.FloatType).call(values(7.5f)));
        assertEquals(7.5, same(DataTypes.DoubleType).call(values(7.5)));
        assertEquals(true, same(DataTypes.BooleanType).call(values(true)));
        assertEquals(text("ä😀"), same(DataTypes.StringType).call(values(text("ä😀"))));
        assertEquals(-1, same(DataTypes.DateType).call(values(-1)));
        assertEquals(-1L, same(DataTypes.TimestampType).call(values(-1L)));
        assertEquals(86_399_999_999_000L, same(new TimeType(6)).call(values(86_399_999_999_000L)));
        Decimal number = Decimal.apply(new BigDecimal("12.30"), 10, 2);
        assertEquals(number, same(DECIMAL).call(values(number)));
        assertArrayEquals(new byte[] {1, 2}, (byte[]) same(DataTypes.BinaryType).call(values(new byte[] {1, 2})));
    }

    private static Object classOfArgument(DataType type, Object value) {
        return function(Functions.ClassName.class, DataTypes.StringType, true, type)
                .call(values(value));
    }

    @Test
    void aParameterOfTheClassObjectGetsWhatSparkPasses() {
        Decimal number = Decimal.apply(new BigDecimal("1.00"), 10, 2);

        assertEquals(text("java.sql.Date"), classOfArgument(DataTypes.DateType, 1));
        assertEquals(text("java.sql.Timestamp"), classOfArgument(DataTypes.TimestampType, 1L));
        assertEquals(text("java.time.LocalTime"), classOfArgument(new TimeType(6), 1L));
        assertEquals(text("java.lang.String"), classOfArgument(DataTypes.StringType, text("x")));
        assertEquals(text("java.math.BigDecimal"), classOfArgument(DECIMAL, number));
    }

    @Test
    void theMethodChoosesTheClassesOfJavaTime() {
        UserFunction function =
                function(Functions.DayOf.class, DataTypes.DateType, true, DataTypes.DateType, DataTypes.TimestampType);

        assertEquals(12, function.call(values(10, 2_000_000L)));
    }

    @Test
    void collectionsAreThoseOfJavaIfTheMethodTakesThem() {
        UserFunction function = function(
                Functions.Describe.class,
                DataTypes.StringType,
                true,
                DataTypes.createArrayType(DataTypes.StringType),
                DataTypes.createMapType(DataTypes.StringType, DataTypes.LongType),
                STRUCT,
                new TimeType(6),
                DECIMAL);
        Object items = new GenericArrayData(new Object[] {text("a"), null});
        Object map = new ArrayBasedMapData(
                new GenericArrayData(new Object[] {text("k")}), new GenericArrayData(new Object[] {3L}));
        Object row = new GenericInternalRow(new Object[] {text("n"), 1L});

        Object text = function.call(
                values(items, map, row, 3_600_000_000_000L, Decimal.apply(new BigDecimal("1.50"), 10, 2)));

        assertEquals(text("[a, null] {k=3} n 01:00 1.50"), text);
    }

    @Test
    void nestedValuesComeBack() {
        DataType type = DataTypes.createArrayType(DataTypes.createMapType(DataTypes.StringType, STRUCT));
        Object row = new GenericInternalRow(new Object[] {text("n"), 1L});
        Object map = new ArrayBasedMapData(
                new GenericArrayData(new Object[] {text("k")}), new GenericArrayData(new Object[] {row}));

        GenericArrayData array = (GenericArrayData) same(type).call(values(new GenericArrayData(new Object[] {map})));

        InternalRow inside = (InternalRow)
                ((ArrayBasedMapData) array.array()[0]).valueArray().get(0, STRUCT);
        assertEquals(text("n"), inside.getUTF8String(0));
        assertEquals(1L, inside.getLong(1));
    }

    @Test
    void theClassIsNotCalledIfARequiredArgumentIsNull() {
        Declaration declared = new Declaration(
                "F", Functions.Count.class.getName(), List.of(true, false), DataTypes.IntegerType, false);
        UserFunction function = UserFunction.create(declared, List.of(DataTypes.StringType, DataTypes.StringType));

        assertEquals(
                Arrays.asList(1, null, 2),
                Arrays.asList(
                        function.call(values(text("a"), null)),
                        function.call(values(null, text("b"))),
                        function.call(values(text("a"), text("b")))));
    }

    @Test
    void aNullResultIsRefusedIfTheDeclarationDoesNotAllowIt() {
        assertNull(same(DataTypes.StringType).call(values((Object) null)));
        assertEquals(
                "the function F returns null, and its result is declared as not null",
                failure(function(Functions.Same.class, DataTypes.StringType, false, DataTypes.StringType), (Object)
                        null));
    }

    @Test
    void aResultOfAnotherClassIsRefusedWithBoth() {
        UserFunction function = function(Functions.Same.class, DataTypes.IntegerType, true, DataTypes.LongType);

        assertEquals(
                "the function F returns an object of the class java.lang.Long where the type is int",
                failure(function, 1L));
    }

    @Test
    void anInvalidValueInsideAResultIsRefusedWithItsPath() {
        DataType declared = DataTypes.createArrayType(STRUCT);
        StructType nullable = new StructType().add("name", DataTypes.StringType).add("total", DataTypes.LongType);
        UserFunction function = function(Functions.Same.class, declared, true, DataTypes.createArrayType(nullable));
        Object row = new GenericInternalRow(new Object[] {text("n"), null});

        String reason = failure(function, new GenericArrayData(new Object[] {row}));

        assertEquals("the function F returns null where its result is declared as not null ([0].total)", reason);
    }

    @Test
    void aDecimalIsRoundedAsCastDoesAndRefusedIfItIsTooLarge() {
        DataType wide = DataTypes.createDecimalType(20, 4);
        UserFunction function = function(Functions.Same.class, DECIMAL, true, wide);

        assertEquals(
                Decimal.apply(new BigDecimal("0.13"), 10, 2),
                function.call(values(Decimal.apply(new BigDecimal("0.1250"), 20, 4))));
        assertEquals(
                "the function F returns a number that is too large for decimal(10,2)",
                failure(function, Decimal.apply(new BigDecimal("123456789.0000"), 20, 4)));
    }

    @ParameterizedTest
    @CsvSource({
        "exception, IllegalArgumentException: negative",
        "null, NullPointerException",
        "interrupted, InterruptedException: by itself",
        "endless, StackOverflowError",
    })
    void whatAClassThrowsIsAnErrorOfTheRecord(String kind, String thrown) {
        String reason = failure(throwing(), text(kind));

        assertTrue(reason.startsWith("the function F throws " + thrown + " (Functions.java:"), reason);
        assertFalse(Thread.currentThread().isInterrupted());
    }

    @Test
    void theMessageOfAnExceptionIsHiddenAsAValueIs() {
        String reason = HiddenValues.reason(() -> throwing().call(values(text(HiddenValues.SECRET))));

        assertTrue(reason.startsWith("the function F throws IllegalStateException (Functions.java:"), reason);
        assertTrue(failure(throwing(), text(HiddenValues.SECRET)).contains(": not " + HiddenValues.SECRET + " ("));
    }

    @Test
    void theKeysOfAMapAreHiddenAsValuesAre() {
        DataType nullable = DataTypes.createMapType(DataTypes.StringType, DataTypes.LongType, true);
        DataType declared = DataTypes.createMapType(DataTypes.StringType, DataTypes.LongType, false);
        UserFunction function = function(Functions.Same.class, declared, true, nullable);
        ArrayBasedMapData map = new ArrayBasedMapData(
                new GenericArrayData(new Object[] {text(HiddenValues.SECRET)}),
                new GenericArrayData(new Object[] {null}));

        String declaredNotNull = "the function F returns null where its result is declared as not null ";
        assertEquals(declaredNotNull + "(*)", HiddenValues.reason(() -> function.call(values(map))));
        assertEquals(declaredNotNull + "(" + HiddenValues.SECRET + ")", failure(function, map));
    }

    @ParameterizedTest
    @ValueSource(strings = {"interrupted", "flag"})
    void anInterruptThatTheFunctionCausesDoesNotAffectTheNextRecord(String kind) {
        UserFunction function = throwing();
        try {
            function.call(values(text(kind)));
        } catch (FunctionException expected) {
            assertEquals("interrupted", kind);
        }

        assertFalse(Thread.currentThread().isInterrupted());
        assertEquals(text("ok"), function.call(values(text("ok"))));
    }

    @Test
    void anInterruptFromOutsideIsKept() {
        Thread.currentThread().interrupt();
        assertEquals(text("ok"), throwing().call(values(text("ok"))));
        assertTrue(Thread.currentThread().isInterrupted());

        assertThrows(InterruptedException.class, () -> throwing().call(values(text("interrupted"))));
        assertTrue(Thread.currentThread().isInterrupted());
    }

    @ParameterizedTest
    @ValueSource(strings = {"exception", "interrupted"})
    void whatIsThrownInAStoppedTaskIsNotAnErrorOfTheRecord(String kind) {
        UserFunction function = throwing();
        TaskContext task = TaskContext$.MODULE$.empty();
        TaskContext$.MODULE$.setTaskContext(task);
        try {
            task.markInterrupted("the query is stopped");

            assertThrows(InterruptedException.class, () -> function.call(values(text(kind))));
            assertTrue(Thread.currentThread().isInterrupted());
        } finally {
            TaskContext$.MODULE$.unset();
        }
    }

    @Test
    void aMissingLibraryMakesTheFunctionUnusable() {
        FunctionException error =
                assertThrows(FunctionException.class, () -> throwing().call(values(text("missing"))));

        assertEquals("LSQL_FUNCTION_UNUSABLE", error.getCondition());
        assertTrue(error.reason().contains("the function F of the class"), error.reason());
        assertTrue(error.reason().contains("NoClassDefFoundError: com/example/Library"), error.reason());
    }

    @ParameterizedTest
    @CsvSource({"uninitialized, IllegalStateException, ': not '", "native, UnsatisfiedLinkError, ': no library '"})
    void theMessageOfAClassThatFailsDuringARecordIsHiddenAsAValueIs(String kind, String thrown, String message) {
        String value = kind + " " + HiddenValues.SECRET;
        String start = "the function F of the class " + Functions.Throwing.class.getName() + ": " + thrown;

        String hidden = HiddenValues.reason(() -> throwing().call(values(text(value))));
        FunctionException shown =
                assertThrows(FunctionException.class, () -> throwing().call(values(text(value))));

        assertTrue(hidden.startsWith(start), hidden);
        assertEquals("LSQL_FUNCTION_UNUSABLE", shown.getCondition());
        assertTrue(shown.reason().startsWith(start + message + value), shown.reason());
    }

    @Test
    void theNameOfAMissingLibraryIsNotAValue() {
        String reason = HiddenValues.reason(() -> throwing().call(values(text("missing"))));

        assertTrue(reason.contains("NoClassDefFoundError: com/example/Library"), reason);
    }

    @Test
    void theMessageOfAConstructorHasNoRecordAndIsNotHidden() {
        String reason = HiddenValues.reason(
                () -> function(Functions.Unbuildable.class, DataTypes.StringType, true, DataTypes.StringType));

        assertTrue(reason.contains("IllegalStateException: no licence"), reason);
    }

    @Test
    void aFullMemoryIsNotAnErrorOfTheRecord() {
        assertThrows(OutOfMemoryError.class, () -> throwing().call(values(text("memory"))));
    }

    @Test
    void aClassThatCannotBeCreatedIsUnusable() {
        assertTrue(unusable(Functions.Unbuildable.class).contains("IllegalStateException: no licence"));
        assertTrue(unusable(Functions.Uninitialized.class).contains("NumberFormatException"));
        assertTrue(unusable(Functions.class).contains("NoSuchMethodException"));
        assertTrue(unusable(Functions.Count.class).contains("it does not implement UDF1"));
    }

    @Test
    void aMissingClassIsUnusable() {
        Declaration declared = new Declaration("F", "com.example.None", List.of(false), DataTypes.StringType, true);

        FunctionException error = assertThrows(
                FunctionException.class, () -> UserFunction.create(declared, List.of(DataTypes.StringType)));
        assertEquals(
                "the function F of the class com.example.None: ClassNotFoundException: com.example.None",
                error.reason());
    }
}
