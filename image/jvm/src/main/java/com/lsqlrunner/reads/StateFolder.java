package com.lsqlrunner.reads;

import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.streaming.state.NoPrefixKeyStateEncoderSpec;
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.StateSchemaCompatibilityChecker;
import org.apache.spark.sql.execution.streaming.state.StateStoreColFamilySchema;
import org.apache.spark.sql.execution.streaming.state.StateStoreConf;
import org.apache.spark.sql.execution.streaming.state.StateStoreId;
import org.apache.spark.sql.execution.streaming.state.StateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.List$;
import scala.collection.immutable.Map$;

/** The files of a stateful operator in a checkpoint whose query does not run. */
final class StateFolder {
    /** The keys and the values of the variables of our operators. */
    static final StructType VARIABLE = new StructType().add("value", DataTypes.BinaryType);

    private final StateStoreConf conf;
    private final Configuration hadoop;
    private final String folder;
    private final long operator;

    /**
     * @param folder the folder {@code state} of a checkpoint
     * @param operator its number in the query
     * @param provider the class of the stores
     */
    StateFolder(
            SparkSession session, String folder, long operator, Class<? extends RocksDBStateStoreProvider> provider) {
        var state = ((org.apache.spark.sql.classic.SparkSession) session).sessionState();
        SQLConf settings = state.conf().clone();
        settings.setConfString(SQLConf.STATE_STORE_PROVIDER_CLASS().key(), provider.getName());
        this.conf = new StateStoreConf(settings, Map$.MODULE$.empty());
        this.hadoop = state.newHadoopConf();
        this.folder = folder;
        this.operator = operator;
    }

    /** Reads and writes the file with the schema. */
    StateSchemaCompatibilityChecker schema() {
        return new StateSchemaCompatibilityChecker(id(0), hadoop, List$.MODULE$.empty(), Option.empty(), true);
    }

    /** The schema of the saved state. */
    StateStoreColFamilySchema saved() {
        return schema().readSchemaFile().head();
    }

    /** Throws an IllegalArgumentException unless the columns of the saved state are those of an aggregation. */
    static void checkTypes(StructType saved, StructType wanted) {
        if (!types(saved).equals(types(wanted))) {
            throw new IllegalArgumentException(saved + " instead of " + wanted);
        }
    }

    private static List<DataType> types(StructType columns) {
        return Arrays.stream(columns.fields()).map(StructField::dataType).toList();
    }

    /**
     * The store of a partition, which the caller closes.
     *
     * @param hasVariables whether it belongs to an operator of ours, whose variables are column families
     */
    StateStoreProvider open(int partition, StructType keys, StructType values, boolean hasVariables) {
        return StateStoreProvider.createAndInit(
                id(partition),
                keys,
                values,
                new NoPrefixKeyStateEncoderSpec(keys),
                hasVariables,
                conf,
                hadoop,
                false,
                Option.empty());
    }

    private StateStoreProviderId id(int partition) {
        String store = StateStoreId.DEFAULT_STORE_NAME();
        return new StateStoreProviderId(new StateStoreId(folder, operator, partition, store), UUID.randomUUID());
    }
}
