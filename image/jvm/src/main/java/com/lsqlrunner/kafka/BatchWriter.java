package com.lsqlrunner.kafka;

import static org.apache.spark.sql.functions.array;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.concat;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.struct;

import com.lsqlrunner.PythonEntry;
import com.lsqlrunner.sink.BatchGate;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Writes the micro-batches of one query to Kafka and returns from each when the brokers have all of it. The records'
 * columns are those of Spark's Kafka sink: topic, key, value, headers.
 *
 * <p>It lives here and not in Python, which would have to be called, and would have to ask back a hundred times, in the
 * middle of each batch.
 */
@PythonEntry
public final class BatchWriter extends BatchGate {
    /** The header that names a record's batch: {@code <app id>/<query>/<batch id>}, UTF-8. */
    public static final String HEADER = "lsql.batch";

    private static final long serialVersionUID = 1L;

    private final String query;

    @SuppressWarnings("serial") // It stays in this JVM.
    private final Map<String, String> settings;

    /**
     * @param query {@code <app id>/<query>}
     * @param settings of Spark's Kafka sink
     */
    public BatchWriter(String query, Map<String, String> settings) {
        this.query = query;
        this.settings = Map.copyOf(settings);
    }

    @Override
    protected void write(Dataset<Row> records, long batchId) {
        Column headers = concat(col("headers"), array(header(batchId)));
        records.select(col("topic"), col("key"), col("value"), headers.as("headers"))
                .write()
                .format("kafka")
                .options(settings)
                .save();
    }

    private Column header(long batchId) {
        byte[] name = (query + "/" + batchId).getBytes(StandardCharsets.UTF_8);
        return struct(lit(HEADER).as("key"), lit(name).as("value"));
    }
}
