package com.lsqlrunner.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.lsqlrunner.errors.ErrorChain;
import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.errors.Unchecked;
import com.lsqlrunner.expression.DecodingFunction;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.json.JSONOptions;
import org.apache.spark.sql.catalyst.json.JacksonParser;
import org.apache.spark.sql.catalyst.util.BadRecordException;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Function2;
import scala.collection.Iterator;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Bytes of a JSON object to a struct: what {@code from_json} does in the mode FAILFAST, with Spark's own parser, but on
 * the bytes as they came. {@code from_json} hands Jackson a reader of characters, for which it has a slower tokenizer.
 */
public final class DecodeJson extends DecodingFunction {
    private static final long serialVersionUID = 1L;
    private static final Function2<JsonFactory, byte[], JsonParser> TOKENS = DecodeJson::tokens;

    private static final Seq<Filter> NO_FILTERS =
            CollectionConverters.asScala(List.<Filter>of()).toSeq();

    /** Where Jackson begins to say where in its own source it is. */
    private static final Pattern PLACE_IN_PARSER =
            Pattern.compile("\\s*\\((?:start marker )?at \\[Source|\\s*at \\[Source");

    private transient JacksonParser parser;

    /** @param declared the struct, with fields that may not be null */
    public DecodeJson(Expression child, StructType declared) {
        super(child, declared);
    }

    /** The struct in a record. A record without any JSON is as malformed as one with half of it. */
    @Override
    protected InternalRow decoded(byte[] record) {
        if (parser == null) {
            Map<String, String> options = new Map.Map1<>("mode", "FAILFAST");
            parser = new JacksonParser((StructType) dataType(), new JSONOptions(options, "UTC", ""), false, NO_FILTERS);
        }
        try {
            Iterator<InternalRow> rows =
                    parser.parse(record, TOKENS, UTF8String::fromBytes).iterator();
            if (rows.hasNext()) {
                return rows.next();
            }
            throw new MalformedRecordException("the record is empty");
        } catch (Exception error) { // Scala does not declare what it throws
            if (error instanceof BadRecordException bad) {
                throw new MalformedRecordException(reason(bad));
            }
            throw Unchecked.thrown(error);
        }
    }

    /** What the parser says, without the place in its own source. */
    private static String reason(BadRecordException bad) {
        List<ErrorChain.Link> chain = ErrorChain.of(bad);
        String reason = PLACE_IN_PARSER.split(chain.get(chain.size() - 1).reason(), 2)[0].strip();
        return reason.isEmpty() ? "it is not JSON of the declared type" : reason;
    }

    private static JsonParser tokens(JsonFactory json, byte[] record) {
        try {
            return json.createParser(record);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    @Override
    protected DecodeJson withChild(Expression other) {
        return new DecodeJson(other, (StructType) declared());
    }

    @Override
    public boolean nullable() {
        return child().nullable();
    }
}
