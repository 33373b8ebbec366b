package com.lsqlrunner.text;

import com.lsqlrunner.expression.DecodingFunction;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.StructType;

/**
 * Decodes a line of CSV to a struct. {@code from_csv} implements RFC 4180 only in part: a quote within a value is text,
 * and a quoted empty text is null.
 */
public final class DecodeCsv extends DecodingFunction {
    private static final long serialVersionUID = 1L;

    private transient CsvDecoder decoder;

    /**
     * Creates the function.
     *
     * @param type the columns to read
     * @param names of all columns, as a JSON array
     * @param options as a JSON object: {@code delimiter}, {@code quote}, {@code null}
     */
    public DecodeCsv(Expression child, StructType type, String names, String options) {
        super(child, type, names, options);
    }

    @Override
    protected Object decoded(byte[] record) {
        if (decoder == null) {
            List<String> names = Options.list(option(0));
            Map<String, String> options = Options.map(option(1));
            decoder = new CsvDecoder(
                    (StructType) dataType(),
                    names,
                    options.get("delimiter"),
                    options.get("quote"),
                    options.get("null"));
        }
        return decoder.decode(record);
    }

    @Override
    protected DecodeCsv withChild(Expression other) {
        return new DecodeCsv(other, (StructType) declared(), option(0), option(1));
    }

    @Override
    public String prettyName() {
        return "lsql_decode_csv";
    }
}
