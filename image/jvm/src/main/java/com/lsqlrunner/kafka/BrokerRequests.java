package com.lsqlrunner.kafka;

import com.lsqlrunner.PythonEntry;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Executes requests to Kafka's brokers: one line of JSON for each request on standard input, and a response on standard
 * output. The program ends when standard input ends, even while a request is in progress.
 *
 * <p>The first line contains the connection to the brokers: {@code {"settings": {...}, "request_timeout_ms": 10000}},
 * with the settings of Kafka's client. They are not on the command line, which all users of the machine can read. Each
 * further line is a request, {@code {"ask": "topics"}}; {@link BrokerRequestHandler} lists all requests. A response is
 * {@code {"ok": ...}} or {@code {"error": {"condition": ..., "parameters": {...}}}}, with the conditions of
 * {@link BrokerError}. The response to {@code read} starts with a line {@code {"record": [topic, partition, offset,
 * key, value]}} for each record, with bytes in base64.
 */
@PythonEntry
public final class BrokerRequests {
    private BrokerRequests() {}

    public static void main(String[] arguments) throws IOException {
        OutputStream responses = new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16);
        System.setOut(System.err); // output of a login module must not be mixed with the responses
        BlockingQueue<String> requests = new LinkedBlockingQueue<>();
        Thread worker = new Thread(() -> executeAll(requests, responses), "requests");
        worker.setDaemon(true);
        worker.start();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            requests.add(line);
        }
        System.exit(0); // a request may still wait for brokers, but nobody reads its response
    }

    private static void executeAll(BlockingQueue<String> requests, OutputStream out) {
        BrokerRequestHandler handler = null;
        try {
            while (true) {
                Map<String, Object> request = Json.object(requests.take());
                ResponseWriter responses = new ResponseWriter(out);
                try {
                    if (handler == null) {
                        handler = new BrokerRequestHandler(request);
                        handler.connect();
                        responses.ok(null);
                    } else {
                        handler.execute(request, responses);
                    }
                } catch (Exception error) {
                    if (handler != null) {
                        handler.disconnect();
                    }
                    responses.error(BrokerError.of(error));
                }
            }
        } catch (IOException | InterruptedException gone) {
            System.exit(0); // nobody reads the responses any more
        } catch (Error fatal) {
            System.err.println(fatal);
            Runtime.getRuntime().halt(1);
        }
    }
}
