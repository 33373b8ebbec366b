package com.lsqlrunner.marks;

import com.lsqlrunner.PythonEntry;
import java.util.Map;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Lets tasks on workers ask the driver before they read a record, after workers ran out of memory. This class is a
 * value of {@code spark.plugins}.
 */
@PythonEntry
public final class MarkPlugin implements SparkPlugin {
    @Override
    public DriverPlugin driverPlugin() {
        return new Answering();
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new Asking();
    }

    /** The driver's part: answers whether the record may be read. */
    private static final class Answering implements DriverPlugin {
        private final MarkedPlaces places = new MarkedPlaces();

        @Override
        public Object receive(Object mark) {
            return places.set((MarkedPlaces.Mark) mark);
        }
    }

    /** An executor's part. */
    private static final class Asking implements ExecutorPlugin {
        @Override
        public void init(PluginContext context, Map<String, String> ofDriver) {
            String executor = context.executorID();
            DriverMark.askWith(place -> ask(context, new MarkedPlaces.Mark(executor, place)));
        }

        private static boolean ask(PluginContext context, MarkedPlaces.Mark mark) {
            try {
                return (Boolean) context.ask(mark);
            } catch (RuntimeException error) {
                throw error;
            } catch (Exception error) { // Scala does not declare what it throws
                throw new IllegalStateException(error);
            }
        }
    }
}
