package com.lsqlrunner.kafka;

import com.lsqlrunner.PythonEntry;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Executes requests to Kafka's brokers in the JVM of a processor, with the lines of {@link BrokerRequestLoop}. Requests
 * run in their own thread, so that a caller does not wait longer than it wants, for example for a login.
 */
@PythonEntry
public final class BrokerChannel {
    private final BlockingQueue<String> requests = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> lines =
            new ArrayBlockingQueue<>(1); // not all records of a sample are in the heap
    private final Thread worker;

    /** Starts the thread. It ends with {@link #close}. */
    public BrokerChannel() {
        BrokerRequestLoop loop = new BrokerRequestLoop(requests, line -> lines.put(Json.text(line)));
        worker = new Thread(loop::run, "broker-requests");
        worker.setDaemon(true);
        worker.start();
    }

    /** Adds a request. Its lines must have been read before the next one is sent. */
    public void send(String request) {
        requests.add(request);
    }

    /** The next line of the response; null if there is none within {@code timeoutMs}. */
    public String line(long timeoutMs) throws InterruptedException {
        return lines.poll(timeoutMs, TimeUnit.MILLISECONDS);
    }

    /** Ends the thread, also if it executes a request, and closes the client. Does not wait. */
    public void close() {
        worker.interrupt();
    }
}
