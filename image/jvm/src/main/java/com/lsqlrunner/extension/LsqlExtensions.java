package com.lsqlrunner.extension;

import com.lsqlrunner.PythonEntry;
import com.lsqlrunner.aggregate.ExactSum;
import com.lsqlrunner.aggregate.KeepValues;
import com.lsqlrunner.avro.DecodeAvro;
import com.lsqlrunner.avro.EncodeAvro;
import com.lsqlrunner.expression.Arguments;
import com.lsqlrunner.expression.PackRow;
import com.lsqlrunner.expression.ReadHeader;
import com.lsqlrunner.expression.RequireLength;
import com.lsqlrunner.expression.ShowValue;
import com.lsqlrunner.expression.UnpackRow;
import com.lsqlrunner.function.CallClass;
import com.lsqlrunner.json.CanonicalJson;
import com.lsqlrunner.json.DecodeJson;
import com.lsqlrunner.json.EncodeJson;
import com.lsqlrunner.json.ExtendJson;
import com.lsqlrunner.json.ReadNumeric;
import com.lsqlrunner.policies.AcceptedTime;
import com.lsqlrunner.policies.Attempt;
import com.lsqlrunner.policies.FirstOfRecord;
import com.lsqlrunner.policies.LimitRecordSize;
import com.lsqlrunner.protobuf.DecodeProtobuf;
import com.lsqlrunner.protobuf.EncodeProtobuf;
import com.lsqlrunner.text.DecodeCsv;
import com.lsqlrunner.text.DecodeText;
import com.lsqlrunner.text.DecodeXml;
import com.lsqlrunner.tick.AdvancedTime;
import com.lsqlrunner.tick.LateWatermark;
import com.lsqlrunner.tick.LateWatermarkRule;
import com.lsqlrunner.utf16.Utf16IndexOf;
import com.lsqlrunner.utf16.Utf16Length;
import com.lsqlrunner.utf16.Utf16Part;
import com.lsqlrunner.value.NumericArithmetic;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.expressions.KnownNotNull;
import scala.Function1;
import scala.Tuple3;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * Registers all functions and rules of this module in a Spark session. This class is the value of
 * {@code spark.sql.extensions}.
 *
 * <p>Arguments for which a constructor takes a text, a number or a type are literals. Types are in the JSON of Spark's
 * types.
 */
@PythonEntry
public final class LsqlExtensions extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {
    private static final Map<String, Function<Arguments, Expression>> FUNCTIONS = new TreeMap<>();

    static {
        FUNCTIONS.put(
                "lsql_decode_json",
                all -> all.count() == 2
                        ? new DecodeJson(all.first(), all.type(1))
                        : new DecodeJson(all.first(), all.type(1), all.type(2), all.count() > 3));
        FUNCTIONS.put(
                "lsql_encode_json",
                all -> all.count() == 1 ? new EncodeJson(all.first()) : new EncodeJson(all.first(), all.type(1)));
        FUNCTIONS.put("lsql_canonical_json", all -> new CanonicalJson(all.first()));
        FUNCTIONS.put("lsql_extend_json", all -> new ExtendJson(all.first(), all.at(1), all.type(2)));
        FUNCTIONS.put("lsql_decode_avro", all -> new DecodeAvro(all.first(), all.string(1), all.string(2)));
        FUNCTIONS.put("lsql_encode_avro", all -> new EncodeAvro(all.first(), all.string(1), all.number(2)));
        FUNCTIONS.put(
                "lsql_decode_protobuf",
                all -> new DecodeProtobuf(all.first(), all.type(1), all.string(2), all.string(3)));
        FUNCTIONS.put("lsql_encode_protobuf", all -> new EncodeProtobuf(all.first(), all.string(1), all.number(2)));
        FUNCTIONS.put("lsql_decode_csv", all -> new DecodeCsv(all.first(), all.type(1), all.string(2), all.string(3)));
        FUNCTIONS.put("lsql_decode_text", all -> new DecodeText(all.first()));
        FUNCTIONS.put("lsql_decode_xml", all -> new DecodeXml(all.first(), all.type(1), all.string(2)));
        FUNCTIONS.put(
                "lsql_require_length", all -> new RequireLength(all.first(), all.number(1), (Boolean) all.value(2)));
        FUNCTIONS.put("lsql_read_header", all -> new ReadHeader(all.first(), all.string(1), all.string(2)));
        FUNCTIONS.put("lsql_pack_row", all -> new PackRow(all.first()));
        FUNCTIONS.put(
                "lsql_unpack_row", all -> new UnpackRow(all.first(), all.type(1).asNullable()));
        FUNCTIONS.put("lsql_attempt", all -> new Attempt(all.first(), all.at(1), all.string(2)));
        FUNCTIONS.put("lsql_first_of_record", all -> new FirstOfRecord(all.first()));
        FUNCTIONS.put(
                "lsql_limit_record_size",
                all -> new LimitRecordSize(all.first(), all.string(1), (Boolean) all.value(2)));
        FUNCTIONS.put(
                "lsql_accepted_time",
                all -> new AcceptedTime(all.first(), all.longNumber(1), all.longNumber(2), (Boolean) all.value(3)));
        FUNCTIONS.put("lsql_known_not_null", all -> new KnownNotNull(all.first()));
        FUNCTIONS.put("lsql_show_value", all -> new ShowValue(all.first(), all.at(1)));
        FUNCTIONS.put("lsql_keep_values", KeepValues::of);
        FUNCTIONS.put("lsql_keep_values_with_retraction", KeepValues::retracting);
        FUNCTIONS.put("lsql_exact_sum", ExactSum::of);
        FUNCTIONS.put("lsql_utf16_length", all -> new Utf16Length(all.first()));
        FUNCTIONS.put("lsql_utf16_index_of", all -> new Utf16IndexOf(all.first(), all.at(1)));
        FUNCTIONS.put("lsql_utf16_take", all -> Utf16Part.take(all.first(), all.at(1)));
        FUNCTIONS.put("lsql_utf16_drop", all -> Utf16Part.drop(all.first(), all.at(1)));
        FUNCTIONS.put("lsql_call_class", CallClass::of);
        FUNCTIONS.put("lsql_read_numeric", all -> new ReadNumeric(all.first()));
        FUNCTIONS.put("lsql_numeric_arithmetic", all -> new NumericArithmetic(all.first(), all.at(1), all.string(2)));
        FUNCTIONS.put("lsql_advanced_time", all -> AdvancedTime.of(all.first(), all.at(1), all.string(2)));
        FUNCTIONS.put("lsql_late_watermark", all -> new LateWatermark());
    }

    /** The names of all functions. */
    public static Set<String> names() {
        return FUNCTIONS.keySet();
    }

    @Override
    public BoxedUnit apply(SparkSessionExtensions extensions) {
        FUNCTIONS.forEach((name, function) -> extensions.injectFunction(new Tuple3<>(
                new FunctionIdentifier(name),
                new ExpressionInfo(LsqlExtensions.class.getName(), name),
                builder(function))));
        extensions.injectColumnar(session -> LateWatermarkRule.asColumnarRule());
        return BoxedUnit.UNIT;
    }

    private static Function1<Seq<Expression>, Expression> builder(Function<Arguments, Expression> function) {
        return arguments -> function.apply(new Arguments(CollectionConverters.asJava(arguments)));
    }
}
