package com.lsqlrunner.json;

import com.lsqlrunner.expression.UnaryFunction;
import java.io.CharArrayWriter;
import java.nio.charset.StandardCharsets;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.json.JSONOptions;
import org.apache.spark.sql.catalyst.json.JacksonGenerator;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import scala.collection.immutable.Map;

/**
 * Encodes a struct as the bytes of a JSON object with all null fields, like {@code to_json} and with Spark's generator.
 * {@code to_json} uses an expression that loads all of Scala's reflection, which takes a third of a second in the first
 * batch, and it returns characters.
 */
public final class EncodeJson extends UnaryFunction {
    private static final long serialVersionUID = 1L;
    private static final String MILLISECONDS = "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'";

    private transient JacksonGenerator generator;
    private transient CharArrayWriter text;

    public EncodeJson(Expression child) {
        super(child);
    }

    @Override
    public TypeCheckResult checkInputDataTypes() {
        return checkStruct();
    }

    /** The JSON object of a struct, in UTF-8. */
    @Override
    public byte[] call(Object struct) {
        if (generator == null) {
            Map<String, String> options = new Map.Map2<>("ignoreNullFields", "false", "timestampFormat", MILLISECONDS);
            text = new CharArrayWriter();
            generator = new JacksonGenerator(child().dataType(), text, new JSONOptions(options, "UTC", ""));
        }
        generator.write((InternalRow) struct);
        generator.flush();
        byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
        text.reset();
        return bytes;
    }

    @Override
    protected EncodeJson withChild(Expression other) {
        return new EncodeJson(other);
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
