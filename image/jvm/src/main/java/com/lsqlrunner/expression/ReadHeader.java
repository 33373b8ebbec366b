package com.lsqlrunner.expression;

import com.lsqlrunner.errors.Condition;
import com.lsqlrunner.errors.LsqlException;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;

/** Reads the bytes of a header as Kafka's serializers write them; bytes of another length or text are an error. */
public final class ReadHeader extends UnaryFunction {
    private static final long serialVersionUID = 1L;

    private final String header;
    private final Kind kind;

    /** The types of headers. */
    private enum Kind {
        STRING(0, DataTypes.StringType),
        INT(Integer.BYTES, DataTypes.IntegerType),
        LONG(Long.BYTES, DataTypes.LongType),
        FLOAT(Float.BYTES, DataTypes.FloatType),
        DOUBLE(Double.BYTES, DataTypes.DoubleType);

        private final int length;
        private final DataType type;

        Kind(int length, DataType type) {
            this.length = length;
            this.type = type;
        }
    }

    /**
     * Creates the function.
     *
     * @param header the name of the header, for errors
     * @param kind the name of its type: string, int, long, float or double
     */
    public ReadHeader(Expression child, String header, String kind) {
        super(child, header, kind);
        this.header = header;
        this.kind = Kind.valueOf(kind.toUpperCase(Locale.ROOT));
    }

    @Override
    public Object call(Object value) {
        byte[] bytes = (byte[]) value;
        if (kind != Kind.STRING && bytes.length != kind.length) {
            throw invalid("expected %d bytes, found %d".formatted(kind.length, bytes.length));
        }
        ByteBuffer number = ByteBuffer.wrap(bytes);
        return switch (kind) {
            case STRING -> text(bytes);
            case INT -> number.getInt();
            case LONG -> number.getLong();
            case FLOAT -> number.getFloat();
            case DOUBLE -> number.getDouble();
        };
    }

    private UTF8String text(byte[] bytes) {
        UTF8String text = UTF8String.fromBytes(bytes);
        if (!text.isValid()) {
            throw invalid("it is not text in UTF-8");
        }
        return text;
    }

    private LsqlException invalid(String reason) {
        return new LsqlException(Condition.LSQL_HEADER_INVALID, Map.of("header", header, "reason", reason));
    }

    @Override
    protected ReadHeader withChild(Expression other) {
        return new ReadHeader(other, header, stringParameter(1));
    }

    @Override
    public DataType dataType() {
        return kind.type;
    }

    @Override
    public String prettyName() {
        return "lsql_read_header";
    }
}
