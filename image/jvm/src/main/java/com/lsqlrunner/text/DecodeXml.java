package com.lsqlrunner.text;

import com.lsqlrunner.expression.DecodingFunction;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.StructType;

/**
 * Decodes an XML document to a struct. {@code from_xml} ignores text after the root element, and uses the last of
 * repeated elements if the type has one.
 */
public final class DecodeXml extends DecodingFunction {
    private static final long serialVersionUID = 1L;

    private transient XmlDecoder decoder;

    /**
     * Creates the function.
     *
     * @param options as a JSON object: {@code row_tag}, the name of the root element, or empty for any name
     */
    public DecodeXml(Expression child, StructType type, String options) {
        super(child, type, options);
    }

    @Override
    protected Object decoded(byte[] record) {
        if (decoder == null) {
            decoder = new XmlDecoder(
                    (StructType) dataType(), Options.map(option(0)).get("row_tag"));
        }
        return decoder.decode(record);
    }

    @Override
    protected DecodeXml withChild(Expression other) {
        return new DecodeXml(other, (StructType) declared(), option(0));
    }

    @Override
    public String prettyName() {
        return "lsql_decode_xml";
    }
}
