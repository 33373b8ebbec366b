package com.lsqlrunner.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.util.JsonParserDelegate;
import com.lsqlrunner.bytes.RecordBudget;
import com.lsqlrunner.errors.MalformedRecordException;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * The tokens of a record that Spark's parser reads, counted by a {@link RecordBudget}. Spark's parser itself has no
 * limits, and writes out a number such as {@code 1e9999999} for a DECIMAL, which takes minutes.
 */
final class CountedJsonTokens extends JsonParserDelegate {
    private static final Pattern LARGE_EXPONENT = Pattern.compile("[-+.,0-9]+[eE][-+]?[0-9]{4,}");

    private final Types types;
    private final RecordBudget budget = new RecordBudget();
    private MalformedRecordException refusal;

    CountedJsonTokens(JsonParser tokens, Types types, int recordBytes) {
        super(tokens);
        this.types = types;
        budget.start(recordBytes);
    }

    /**
     * Why the record is refused, with the field; null if it is not. Spark's parser may hide the exception behind
     * another one.
     */
    MalformedRecordException refusal() {
        return refusal;
    }

    @Override
    public JsonToken nextToken() throws IOException {
        try {
            return countedToken();
        } catch (MalformedRecordException exceeded) {
            throw refused(exceeded);
        }
    }

    private JsonToken countedToken() throws IOException {
        JsonToken token = delegate.nextToken();
        if (token == JsonToken.START_OBJECT) {
            JsonStreamContext outside = delegate.getParsingContext().getParent();
            countItem(outside);
            if (types.at(outside) instanceof StructType struct) {
                budget.takeFields(struct.length());
            }
        } else if (token == JsonToken.START_ARRAY) {
            countItem(delegate.getParsingContext().getParent());
        } else if (token != null && token.isScalarValue()) {
            countItem(delegate.getParsingContext());
        }
        return token;
    }

    /** @param outside the array or object in which the current value is */
    private void countItem(JsonStreamContext outside) {
        if (outside.inArray()) {
            budget.takeItems(1);
        } else if (outside.inObject() && types.at(outside.getParent()) instanceof MapType) {
            budget.takeEntries(1);
        }
    }

    @Override
    public BigDecimal getDecimalValue() throws IOException {
        BigDecimal value = delegate.getDecimalValue();
        if (Math.abs((long) value.scale()) > RecordBudget.MAX_DIGITS) {
            throw tooManyDigits();
        }
        return value;
    }

    @Override
    public String getText() throws IOException {
        String text = delegate.getText();
        if (types.haveDecimal
                && delegate.currentToken() == JsonToken.VALUE_STRING
                && LARGE_EXPONENT.matcher(text).matches()
                && types.at(delegate.getParsingContext()) instanceof DecimalType) {
            throw tooManyDigits();
        }
        return text;
    }

    private MalformedRecordException tooManyDigits() {
        return refused(
                new MalformedRecordException("a decimal has more than %d digits".formatted(RecordBudget.MAX_DIGITS)));
    }

    /** The error with the field of the current value. Of several errors of a record the first one is kept. */
    private MalformedRecordException refused(MalformedRecordException error) {
        if (refusal == null) {
            refusal = error.inField(JsonFieldPath.of(delegate.getParsingContext(), types.root));
        }
        return refusal;
    }

    /** The types of the values of a record. Parsers may share it. */
    static final class Types {
        /** The fewest bytes that a struct takes: two braces, and a comma before the next one. */
        private static final int STRUCT_BYTES = 3;

        private final StructType root;
        private final boolean haveDecimal;
        private final int mostFields;

        Types(StructType root) {
            this.root = root;
            haveDecimal = all(root).anyMatch(DecimalType.class::isInstance);
            mostFields = all(root)
                    .mapToInt(type -> type instanceof StructType struct ? struct.length() : 0)
                    .max()
                    .orElse(0);
        }

        /** Whether a record has to be counted. */
        boolean mayExceed(int recordBytes) {
            return haveDecimal || RecordBudget.canExceed(recordBytes, recordBytes / STRUCT_BYTES, mostFields);
        }

        /** The type of the current value of an array or object; null if it is not read. */
        private DataType at(JsonStreamContext context) {
            if (context.inRoot()) {
                return root;
            }
            DataType outside = at(context.getParent());
            if (context.inArray()) {
                return outside instanceof ArrayType array ? array.elementType() : null;
            }
            if (outside instanceof MapType map) {
                return map.valueType();
            }
            if (outside instanceof StructType struct) {
                int field = Arrays.asList(struct.fieldNames()).indexOf(context.getCurrentName());
                return field < 0 ? null : struct.apply(field).dataType();
            }
            return null;
        }

        /** A type, and all types within it. */
        private static Stream<DataType> all(DataType type) {
            Stream<DataType> inside = Stream.of();
            if (type instanceof StructType struct) {
                inside = Stream.of(struct.fields()).map(StructField::dataType);
            } else if (type instanceof ArrayType array) {
                inside = Stream.of(array.elementType());
            } else if (type instanceof MapType map) {
                inside = Stream.of(map.valueType());
            }
            return Stream.concat(Stream.of(type), inside.flatMap(Types::all));
        }
    }
}
