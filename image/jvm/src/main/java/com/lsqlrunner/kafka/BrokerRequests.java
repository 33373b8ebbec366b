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
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The program that executes requests to Kafka's brokers: it reads the lines of {@link BrokerRequestLoop} on standard
 * input, and writes the responses to standard output. The program ends when standard input ends, even while a request
 * is in progress.
 */
@PythonEntry
public final class BrokerRequests {
    private BrokerRequests() {}

    public static void main(String[] arguments) throws IOException {
        OutputStream responses = new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16);
        System.setOut(System.err); // output of a login module must not be mixed with the responses
        BlockingQueue<String> requests = new LinkedBlockingQueue<>();
        BrokerRequestLoop loop = new BrokerRequestLoop(requests, line -> Json.writeLine(responses, line));
        Thread worker = new Thread(() -> executeAll(loop), "requests");
        worker.setDaemon(true);
        worker.start();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            requests.add(line);
        }
        System.exit(0); // a request may still wait for brokers, but nobody reads its response
    }

    private static void executeAll(BrokerRequestLoop loop) {
        try {
            loop.run();
        } catch (Error fatal) {
            System.err.println(fatal);
            Runtime.getRuntime().halt(1);
        }
        System.exit(0); // nobody reads the responses any more
    }
}
