package com.lsqlrunner.kafka;

import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import org.apache.kafka.common.errors.InterruptException;

/**
 * Executes requests to Kafka's brokers, one after the other. Requests and responses are lines of JSON.
 *
 * <p>The first line contains the connection to the brokers: {@code {"settings": {...}, "request_timeout_ms": 10000}},
 * with the settings of Kafka's client. They are not on a command line, which all users of the machine can read. Each
 * further line is a request, {@code {"ask": "topics"}}; {@link BrokerRequestHandler} lists all requests. A response is
 * {@code {"ok": ...}} or {@code {"error": {"condition": ..., "parameters": {...}}}}, with the conditions of
 * {@link BrokerError}. The response to {@code read} starts with lines {@code {"records": [[topic, partition, offset,
 * key, value], ...]}}, with bytes in base64.
 */
final class BrokerRequestLoop {
    private final BlockingQueue<String> requests;
    private final ResponseWriter responses;
    private BrokerRequestHandler handler;

    BrokerRequestLoop(BlockingQueue<String> requests, ResponseWriter.Lines lines) {
        this.requests = requests;
        responses = new ResponseWriter(lines);
    }

    /** Returns when the thread is interrupted, or when nobody reads the responses any more. */
    void run() {
        try {
            while (true) {
                execute(requests.take());
            }
        } catch (IOException | InterruptedException | InterruptException end) {
            // There is nobody to report it to.
        } finally {
            if (handler != null) {
                handler.disconnect();
            }
        }
    }

    private void execute(String line) throws IOException, InterruptedException {
        try {
            if (handler == null) {
                handler = new BrokerRequestHandler(Json.object(line));
                handler.connect();
                responses.ok(null);
            } else {
                handler.execute(Json.object(line), responses);
            }
        } catch (InterruptedException | InterruptException end) {
            throw end;
        } catch (Exception | LinkageError error) { // a LinkageError: a class of a login module is missing
            if (handler != null) {
                handler.disconnect();
            }
            responses.error(BrokerError.of(error));
        }
    }
}
