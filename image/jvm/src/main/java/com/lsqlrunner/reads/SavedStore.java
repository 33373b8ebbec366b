package com.lsqlrunner.reads;

import com.lsqlrunner.realtime.CommittedVersion;
import com.lsqlrunner.realtime.OpenStateStores;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.streaming.state.ReadStateStore;
import org.apache.spark.sql.execution.streaming.state.StateStoreColFamilySchema;
import org.apache.spark.sql.execution.streaming.state.StateStoreProvider;
import org.apache.spark.sql.types.StructType;
import scala.Option;

/** A store of a query that does not run, from its files. */
final class SavedStore implements StoreReader.Store {
    private final List<CommittedVersion> partitions = new ArrayList<>();
    private final List<StateStoreProvider> opened = new ArrayList<>();

    /**
     * @param results what it is to contain
     * @throws IllegalArgumentException the saved columns are others
     */
    SavedStore(
            SparkSession session, String folder, long operator, long version, List<String> ids, StoredResults results) {
        OpenStateStores.keepCommitted(true);
        StateFolder files = new StateFolder(session, folder, operator, OpenStateStores.class);
        boolean hasVariables = results.variable() != null;
        StructType keys = StateFolder.VARIABLE;
        StructType values = StateFolder.VARIABLE;
        if (!hasVariables) {
            StateStoreColFamilySchema schema = files.saved();
            StateFolder.checkTypes(schema.valueSchema(), results.columns());
            keys = schema.keySchema();
            values = schema.valueSchema();
        }
        try {
            for (int partition = 0; partition < ids.size(); partition++) {
                StateStoreProvider provider = files.open(partition, keys, values, hasVariables);
                opened.add(provider);
                ReadStateStore store = provider.getReadStore(version, Option.apply(ids.get(partition)));
                store.release(); // else it could not be closed; what it has loaded stays
                partitions.add(OpenStateStores.committed(folder, operator, partition));
            }
        } catch (RuntimeException unreadable) {
            close();
            throw unreadable;
        }
    }

    @Override
    public List<CommittedVersion> partitions() {
        return partitions;
    }

    @Override
    public void close() {
        opened.forEach(StateStoreProvider::close);
    }
}
