package com.lsqlrunner.reads;

import com.lsqlrunner.realtime.CommittedVersion;
import com.lsqlrunner.realtime.OpenStateStores;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreWriter;
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;

/** A store of a running query. */
final class RunningStore implements StoreReader.Store {
    private final MicroBatchExecution query;
    private final int number;

    /** Where the state is; null before the first batch. */
    private volatile StatefulOperatorStateInfo info;

    /** @param number of the stateful operator in the plan of the query, from the target down */
    RunningStore(MicroBatchExecution query, int number) {
        this.query = query;
        this.number = number;
    }

    @Override
    public List<CommittedVersion> partitions() {
        if (info == null) {
            info = find();
        }
        List<CommittedVersion> partitions = new ArrayList<>();
        for (int partition = 0; partition < info.numPartitions(); partition++) {
            CommittedVersion committed =
                    OpenStateStores.committed(info.checkpointLocation(), info.operatorId(), partition);
            if (committed == null) {
                return List.of();
            }
            partitions.add(committed);
        }
        return partitions;
    }

    /** Where the state is. A batch has ended, so its plan is made. */
    private StatefulOperatorStateInfo find() {
        List<StatefulOperatorStateInfo> stores = new ArrayList<>();
        query.lastExecution().executedPlan().foreach(node -> {
            if (node instanceof StateStoreWriter writer) {
                stores.add(writer.getStateInfo());
            }
            return null;
        });
        return stores.get(number);
    }
}
