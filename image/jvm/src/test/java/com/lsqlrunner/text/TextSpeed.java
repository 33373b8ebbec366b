package com.lsqlrunner.text;

import com.lsqlrunner.value.Types;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.spark.sql.catalyst.csv.CSVOptions;
import org.apache.spark.sql.catalyst.csv.UnivocityParser;
import org.apache.spark.sql.catalyst.xml.StaxXmlParser;
import org.apache.spark.sql.catalyst.xml.XmlOptions;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Measures how long it takes to decode one record of CSV and of XML, here and with Spark's parsers. Not a test. It
 * needs the jars of Spark:
 *
 * <pre>java --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.nio=ALL-UNNAMED
 * --add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-opens=java.base/java.util=ALL-UNNAMED
 * -cp image/jvm/target/classes:image/jvm/target/test-classes:'.venv/lib/python3.11/site-packages/pyspark/jars/*'
 * com.lsqlrunner.text.TextSpeed</pre>
 */
final class TextSpeed {
    private static final int RECORDS = 200_000;
    private static final int ROUNDS = 9;
    /** The processor time of the thread: it depends less on other processes. */
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    private static long checksum;

    private TextSpeed() {}

    public static void main(String[] arguments) {
        StructType type = Types.struct(
                "id",
                Types.named("long"),
                "customer",
                Types.named("string"),
                "country",
                Types.named("string"),
                "amount",
                Types.named("double"),
                "quantity",
                Types.named("int"),
                "paid",
                Types.named("boolean"));
        byte[] csv = "123456789,customer-4711,DE,49.95,3,true".getBytes(StandardCharsets.UTF_8);
        byte[] xml =
                ("<o><id>123456789</id><customer>customer-4711</customer><country>DE</country><amount>49.95</amount>"
                                + "<quantity>3</quantity><paid>true</paid></o>")
                        .getBytes(StandardCharsets.UTF_8);
        scala.collection.immutable.Map<String, String> options =
                new scala.collection.immutable.Map.Map1<>("mode", "FAILFAST");
        CsvDecoder ownCsv = new CsvDecoder(type, List.of(type.fieldNames()), ",", "\"", "");
        XmlDecoder ownXml = new XmlDecoder(type, "");
        UnivocityParser sparkCsv = new UnivocityParser(
                type,
                type,
                new CSVOptions(options, false, "UTC"),
                CollectionConverters.asScala(List.<Filter>of()).toSeq());
        StaxXmlParser sparkXml = new StaxXmlParser(type, new XmlOptions(options, "UTC", "", false, false));
        Map<String, Supplier<Object>> decoders = new LinkedHashMap<>();
        decoders.put("CSV", () -> ownCsv.decode(csv));
        decoders.put("CSV of Spark", () -> sparkCsv.parse().apply(new String(csv, StandardCharsets.UTF_8)));
        decoders.put("XML", () -> ownXml.decode(xml));
        decoders.put("XML of Spark", () -> sparkXml.parseColumn(new String(xml, StandardCharsets.UTF_8), type));
        for (int round = 0; round < ROUNDS; round++) {
            StringBuilder line = new StringBuilder();
            decoders.forEach((name, decoder) -> line.append("%s %.0f ns  ".formatted(name, nanos(decoder))));
            System.out.println(line);
        }
        System.out.println(checksum);
    }

    private static double nanos(Supplier<Object> decoder) {
        long start = CLOCK.getCurrentThreadCpuTime();
        for (int i = 0; i < RECORDS; i++) {
            checksum += System.identityHashCode(decoder.get().getClass()) & 1;
        }
        return (CLOCK.getCurrentThreadCpuTime() - start) / (double) RECORDS;
    }
}
