package com.lsqlrunner.reads;

import com.lsqlrunner.PythonEntry;
import com.lsqlrunner.operators.ConvertedGroups;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec;
import org.apache.spark.sql.execution.streaming.state.ReadStateStore;
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.SchemaHelper.SchemaWriter$;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.execution.streaming.state.StateStoreColFamilySchema;
import org.apache.spark.sql.execution.streaming.state.StateStoreIterator;
import org.apache.spark.sql.execution.streaming.state.StateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair;
import scala.Option;
import scala.collection.immutable.List$;

/** Writes the state of an aggregation of Spark again, for a query with other aggregates. No query uses the state. */
@PythonEntry
public final class StateConversion {
    private static final String FAMILY = StateStore.DEFAULT_COL_FAMILY_NAME();

    /** The version of the files with the schema of an aggregation. */
    private static final int SCHEMA_FILE = 2;

    private final ConvertedGroups groups;
    private final StateFolder from;
    private final StateFolder to;
    private final StateStoreColFamilySchema schema;

    private StateConversion(ConvertedGroups groups, StateFolder from, StateFolder to) {
        this.groups = groups;
        this.from = from;
        this.to = to;
        this.schema = from.saved();
    }

    /**
     * A conversion.
     *
     * @param old the aggregation that wrote the state, with projections above it, over any rows
     * @param now the other aggregation, in the same way; the groups of both are equal
     * @param results see {@link ConvertedGroups}
     * @param from the folder with the state, of a checkpoint
     * @param to the folder for the converted state: of a copy of the checkpoint, without the files of the partitions
     * @param operator the number of the aggregation in both
     * @throws IllegalArgumentException the state is not that of {@code old}, or cannot be converted
     */
    public static StateConversion of(
            SparkSession session,
            Dataset<Row> old,
            Dataset<Row> now,
            List<Integer> results,
            String from,
            String to,
            long operator) {
        ConvertedGroups groups = new ConvertedGroups(aggregation(old), aggregation(now), results);
        StateConversion conversion = new StateConversion(
                groups,
                new StateFolder(session, from, operator, RocksDBStateStoreProvider.class),
                new StateFolder(session, to, operator, RocksDBStateStoreProvider.class));
        StateFolder.checkTypes(conversion.schema.valueSchema(), groups.stored());
        return conversion;
    }

    private static BaseAggregateExec aggregation(Dataset<Row> rows) {
        return (BaseAggregateExec) Steps.of(rows).input();
    }

    /** Writes the schema of the converted state, which has no file yet. */
    public void writeSchema() {
        var families = List$.MODULE$.<StateStoreColFamilySchema>empty().$colon$colon(family());
        to.schema().createSchemaFile(families, SchemaWriter$.MODULE$.createSchemaWriter(SCHEMA_FILE));
    }

    private StateStoreColFamilySchema family() {
        return new StateStoreColFamilySchema(
                FAMILY,
                schema.keySchemaId(),
                schema.keySchema(),
                schema.valueSchemaId(),
                groups.converted(),
                schema.keyStateEncoderSpec(),
                schema.userKeyEncoderSchema());
    }

    /**
     * Writes a partition.
     *
     * @param version of the state, in both folders
     * @param stored the id of that version of the partition
     * @return the id of the converted state
     */
    public String convert(int partition, long version, String stored) {
        StateStoreProvider source = from.open(partition, schema.keySchema(), schema.valueSchema(), false);
        try {
            StateStoreProvider target = to.open(partition, schema.keySchema(), groups.converted(), false);
            try {
                return convert(source.getReadStore(version, Option.apply(stored)), target, version);
            } finally {
                target.close();
            }
        } finally {
            source.close();
        }
    }

    private String convert(ReadStateStore source, StateStoreProvider provider, long version) {
        StateStore target = provider.getStore(version - 1, Option.empty(), false, true); // without rows
        StateStoreIterator<UnsafeRowPair> rows = source.iterator(FAMILY);
        while (rows.hasNext()) {
            UnsafeRowPair row = rows.next();
            target.put(row.key(), groups.convert(row.value()), FAMILY);
        }
        rows.close();
        source.abort();
        target.commit();
        return target.getStateStoreCheckpointInfo().stateStoreCkptId().get();
    }
}
