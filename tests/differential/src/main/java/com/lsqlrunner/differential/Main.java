package com.lsqlrunner.differential;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.Properties;
import java.util.stream.Stream;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.state.BuiltInDslStoreSuppliers;
import org.apache.kafka.streams.test.TestRecord;

/**
 * Runs topologies on records until standard input ends.
 *
 * <p>Each line of input is a JSON object: first a run ({@code topology}, {@code settings}, and {@code records}, the
 * number of its records), then each record ({@code topic}, {@code key}, {@code value}, {@code timestamp}). Each line of
 * output is a record that the topology writes ({@code after}, the number of the input record that caused it, from 0;
 * {@code key} in Base64; {@code value}; {@code timestamp}). {@code {"end": true}} follows the last record of a run.
 */
public final class Main {
  private Main() {}

  /** Takes no arguments. If a run fails, the exit code is 1 and the stack trace is on standard error. */
  public static void main(String[] args) throws IOException {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      run(Json.MAPPER.readTree(line), in, out);
      out.println(Json.object().put("end", true));
      out.flush();
    }
  }

  private static void run(JsonNode request, BufferedReader in, PrintStream out) throws IOException {
    StreamsBuilder builder = new StreamsBuilder();
    Topologies.add(builder, request.required("topology").textValue(), request.required("settings"));
    Path state = Files.createTempDirectory("lsql-differential-");
    try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), settings(state), Instant.EPOCH)) {
      TestOutputTopic<byte[], byte[]> written =
          driver.createOutputTopic("o", new ByteArrayDeserializer(), new ByteArrayDeserializer());
      int records = request.required("records").intValue();
      for (int number = 0; number < records; number++) {
        JsonNode record = Json.MAPPER.readTree(in.readLine());
        put(driver, record);
        for (TestRecord<byte[], byte[]> result : written.readRecordsToList()) {
          out.println(line(number, result));
        }
      }
    } finally {
      delete(state);
    }
  }

  private static void put(TopologyTestDriver driver, JsonNode record) throws IOException {
    JsonNode key = record.required("key");
    JsonNode value = record.required("value");
    driver
        .createInputTopic(record.required("topic").textValue(), new ByteArraySerializer(), new ByteArraySerializer())
        .pipeInput(
            key.isNull() ? null : key.textValue().getBytes(StandardCharsets.UTF_8),
            value.isNull() ? null : Json.MAPPER.writeValueAsBytes(value),
            record.required("timestamp").longValue());
  }

  private static ObjectNode line(int number, TestRecord<byte[], byte[]> result) throws IOException {
    ObjectNode line = Json.object().put("after", number).put("timestamp", result.timestamp());
    line.put("key", result.key());
    line.set("value", result.value() == null ? Json.MAPPER.nullNode() : Json.MAPPER.readTree(result.value()));
    return line;
  }

  private static Properties settings(Path state) {
    Properties settings = new Properties();
    settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "differential");
    settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:9092");
    settings.put(StreamsConfig.STATE_DIR_CONFIG, state.toString());
    settings.put(
        StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, BuiltInDslStoreSuppliers.InMemoryDslStoreSuppliers.class);
    settings.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
    // Results that wait for the end of a window are emitted with the next record, not at most once a second.
    settings.put(StreamsConfig.InternalConfig.EMIT_INTERVAL_MS_KSTREAMS_OUTER_JOIN_SPURIOUS_RESULTS_FIX, 0L);
    settings.put(StreamsConfig.InternalConfig.EMIT_INTERVAL_MS_KSTREAMS_WINDOWED_AGGREGATION, 0L);
    return settings;
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> paths = Files.walk(folder)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
