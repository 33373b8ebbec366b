package com.lsqlrunner.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.lsqlrunner.bytes.RecordBudget;
import com.lsqlrunner.errors.ErrorChain;
import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.errors.ShownValue;
import com.lsqlrunner.errors.Unchecked;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.InternalRow;
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
 * Spark's parser of JSON objects in the mode FAILFAST, on bytes. {@code from_json} passes a reader of characters to
 * Jackson, which has a slower tokenizer for characters than for bytes.
 */
final class SparkJsonParser {
    private static final Seq<Filter> NO_FILTERS =
            CollectionConverters.asScala(List.<Filter>of()).toSeq();

    /** The start of Jackson's description of the position in its source. */
    private static final Pattern SOURCE_POSITION =
            Pattern.compile("\\s*\\((?:start marker )?at \\[Source|\\s*at \\[Source");

    private static final Pattern TOO_DEEP = Pattern.compile("^Document nesting depth");

    private final StructType type;
    private final JacksonParser parser;
    private final Function2<JsonFactory, byte[], JsonParser> tokens;
    private final CountedJsonTokens.Types types;
    private CountedJsonTokens counted;

    /** @param type of the structs, with nullable fields */
    SparkJsonParser(StructType type) {
        Map<String, String> options =
                new Map.Map2<>("mode", "FAILFAST", "maxNestingDepth", String.valueOf(RecordBudget.MAX_DEPTH));
        this.type = type;
        types = new CountedJsonTokens.Types(type);
        tokens = this::tokens;
        parser = new JacksonParser(type, new JSONOptions(options, "UTC", ""), false, NO_FILTERS);
    }

    /** The struct of a record. A record without JSON is malformed, like a record with incomplete JSON. */
    InternalRow parse(byte[] record) {
        try {
            Iterator<InternalRow> rows =
                    parser.parse(record, tokens, UTF8String::fromBytes).iterator();
            if (rows.hasNext()) {
                return rows.next();
            }
            throw new MalformedRecordException("the record is empty");
        } catch (Exception error) { // Scala does not declare what it throws
            if (counted != null && counted.refusal() != null) {
                throw counted.refusal();
            }
            if (error instanceof BadRecordException bad) {
                throw malformed(bad).inField(failingField(record));
            }
            throw Unchecked.thrown(error);
        }
    }

    private MalformedRecordException malformed(BadRecordException bad) {
        List<ErrorChain.Link> chain = ErrorChain.of(bad);
        ErrorChain.Link cause = chain.get(chain.size() - 1);
        if (TOO_DEEP.matcher(cause.reason()).find()) {
            return RecordBudget.tooDeep();
        }
        if (cause.condition().equals("CANNOT_PARSE_JSON_FIELD") && !ShownValue.isIncluded()) {
            return new MalformedRecordException("%s is not of the type %s"
                    .formatted(
                            cause.parameters().get("jsonType"),
                            cause.parameters().get("dataType")));
        }
        String reason = SOURCE_POSITION.split(cause.reason(), 2)[0].strip(); // without the position in its source
        return new MalformedRecordException(reason.isEmpty() ? "the JSON does not have the declared type" : reason);
    }

    /** The path of the value at which a record is not valid. The record is read again, so that others have no cost. */
    private String failingField(byte[] record) {
        FailingJsonTokens[] failing = new FailingJsonTokens[1];
        try {
            parser.parse(
                    record,
                    (json, bytes) -> failing[0] = new FailingJsonTokens(tokens(json, bytes), type),
                    UTF8String::fromBytes);
        } catch (Exception expected) { // Scala does not declare what it throws
            return failing[0] == null ? "" : failing[0].path();
        }
        return "";
    }

    private JsonParser tokens(JsonFactory json, byte[] record) {
        try {
            JsonParser all = json.createParser(record);
            counted = types.mayExceed(record.length) ? new CountedJsonTokens(all, types, record.length) : null;
            return counted == null ? all : counted;
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
