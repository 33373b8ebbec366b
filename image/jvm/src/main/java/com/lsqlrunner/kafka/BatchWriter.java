package com.lsqlrunner.kafka;

import static org.apache.spark.sql.functions.array;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.concat;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.struct;

import com.lsqlrunner.PythonEntry;
import com.lsqlrunner.sink.StoppableWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Writes the micro-batches of one query to Kafka. A call returns when the brokers have the whole batch. The records
 * have the columns of Spark's Kafka sink: topic, key, value, headers.
 *
 * <p>It is written in Java because a Python function would be called back by the JVM in each batch, and would itself
 * make about a hundred calls to the JVM.
 */
@PythonEntry
public final class BatchWriter extends StoppableWriter {
    /** The header that names a record's batch: {@code <app id>/<query>/<batch id>}, UTF-8. */
    public static final String HEADER = "lsql.batch";

    private static final long serialVersionUID = 1L;

    private final String query;

    @SuppressWarnings("serial") // never serialized
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
