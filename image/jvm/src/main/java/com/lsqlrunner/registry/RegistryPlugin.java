package com.lsqlrunner.registry;

import com.lsqlrunner.PythonEntry;
import java.util.Map;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Lets executors ask the driver for the connection of a registry, which has credentials. They are neither in the plan
 * nor in a setting of Spark. This class is a value of {@code spark.plugins}.
 */
@PythonEntry
public final class RegistryPlugin implements SparkPlugin {
    @Override
    public DriverPlugin driverPlugin() {
        return new Answering();
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new Asking();
    }

    /** The driver's part: answers the name of a registry with its definition. */
    private static final class Answering implements DriverPlugin {
        @Override
        public Object receive(Object name) {
            return Registry.named((String) name).definition();
        }
    }

    /** An executor's part. */
    private static final class Asking implements ExecutorPlugin {
        @Override
        public void init(PluginContext context, Map<String, String> ofDriver) {
            Registry.askFor(name -> (Registry.Definition) context.ask(name));
        }
    }
}
