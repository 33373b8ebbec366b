package com.lsqlrunner.batch;

import com.lsqlrunner.PythonEntry;
import com.lsqlrunner.realtime.RealTime;
import java.util.function.Consumer;
import org.apache.spark.sql.streaming.StreamingQueryListener;

/**
 * Passes Spark's reports of batches to Python, as JSON.
 *
 * <p>The other events stay in the JVM. Spark reports the start of a query in the thread of the query. For each thread
 * that calls Python, py4j opens a connection with a thread in Python, and keeps both after the calling thread has
 * ended.
 */
@PythonEntry
public final class BatchListener extends StreamingQueryListener {

    private static final long serialVersionUID = 1;

    private final transient Consumer<String> reports; // the listener is not sent anywhere

    /** @param reports takes the JSON of a StreamingQueryProgress, and reports of {@link RealTime}. */
    public BatchListener(Consumer<String> reports) {
        this.reports = reports;
        RealTime.reportTo(reports);
    }

    @Override
    public void onQueryStarted(QueryStartedEvent event) {}

    @Override
    public void onQueryProgress(QueryProgressEvent event) {
        reports.accept(event.progress().json());
    }

    @Override
    public void onQueryTerminated(QueryTerminatedEvent event) {}
}
