package com.lsqlrunner.json;

import com.lsqlrunner.expression.UnaryFunction;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EvalMode;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Option;

/**
 * Encodes a struct as the bytes of a JSON object with all null fields, like {@code to_json}. That function uses an
 * expression that loads all of Scala's reflection, which takes a third of a second in the first batch, and it returns
 * characters. {@link JsonObjectWriter} writes most structs; Spark's generator writes all others.
 */
public final class EncodeJson extends UnaryFunction {
    private static final long serialVersionUID = 1L;

    /** The type of the struct in JSON; null if the argument has the same type. */
    @SuppressWarnings("serial") // Spark's types are serializable, but their class does not declare it.
    private final StructType declared;

    private transient JsonObjectWriter writer;
    private transient SparkJsonGenerator generator;
    /** Converts numbers that are text, because Spark's generator would write quotes; null if there are none. */
    private transient Expression values;

    private transient UnaryOperator<Object> variants;

    private transient boolean isReady;

    public EncodeJson(Expression child) {
        super(child);
        declared = null;
    }

    /**
     * Creates the function.
     *
     * @param declared the type of the struct in JSON: where it has DOUBLE or LONG and the argument STRING, the text is
     *     a number; where it has LONG and the argument DECIMAL, the number is written without zeros at its end; where
     *     it has VARIANT, the text is JSON
     */
    public EncodeJson(Expression child, StructType declared) {
        super(child, declared);
        this.declared = declared;
    }

    @Override
    public TypeCheckResult checkInputDataTypes() {
        return checkStruct();
    }

    /** The JSON object of a struct, in UTF-8. */
    @Override
    public byte[] call(Object struct) {
        if (!isReady) {
            writer = JsonObjectWriter.of(written(), type());
            isReady = true;
        }
        InternalRow row = (InternalRow) struct;
        byte[] object = writer == null ? null : writer.write(row);
        return object == null ? generated(row) : object;
    }

    private StructType type() {
        return (StructType) child().dataType();
    }

    private StructType written() {
        return declared == null ? type() : declared;
    }

    private byte[] generated(InternalRow row) {
        if (generator == null) {
            StructType generated = (StructType) JsonVariants.generated(written(), type());
            generator = new SparkJsonGenerator(generated);
            variants = JsonVariants.converter(generated, type());
            Expression struct = new BoundReference(0, JsonVariants.type(generated, type()), true);
            values = declared == null ? null : new Cast(struct, generated, Option.apply("UTC"), EvalMode.ANSI());
        }
        return generator.write(
                values == null
                        ? row
                        : (InternalRow) values.eval(new GenericInternalRow(new Object[] {variants.apply(row)})));
    }

    @Override
    protected EncodeJson withChild(Expression other) {
        return declared == null ? new EncodeJson(other) : new EncodeJson(other, declared);
    }

    @Override
    public DataType dataType() {
        return DataTypes.BinaryType;
    }

    @Override
    public boolean nullable() {
        return child().nullable();
    }

    @Override
    public String prettyName() {
        return "lsql_encode_json";
    }
}
