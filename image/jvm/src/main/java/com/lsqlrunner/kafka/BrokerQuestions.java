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
 * AnswerWriter questions about Kafka's brokers: one JSON line per question on standard input, one per answer on
 * standard output. It ends when its input does, whatever it is doing then.
 *
 * <p>The first line says how to reach the brokers: {@code {"settings": {...}, "answer_ms": 10000}}, with the keys of
 * Kafka's client; they come this way because a command line can be read by everybody. Each further line is a question,
 * {@code {"ask": "topics"}}; {@link Brokers} has them all. An answer is {@code {"ok": ...}}, or {@code {"error":
 * {"condition": ..., "parameters": {...}}}}, with the conditions of {@link BrokerError}. Before the answer to
 * {@code read} stands a line {@code {"record": [topic, partition, offset, key, value]}} for each record, bytes in
 * base64.
 */
@PythonEntry
public final class BrokerQuestions {
    private BrokerQuestions() {}

    public static void main(String[] arguments) throws IOException {
        OutputStream answers = new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16);
        System.setOut(System.err); // what a login module prints must not come between the answers
        BlockingQueue<String> questions = new LinkedBlockingQueue<>();
        Thread worker = new Thread(() -> answerAll(questions, answers), "answers");
        worker.setDaemon(true);
        worker.start();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            questions.add(line);
        }
        System.exit(0); // a question may still wait for brokers, and nobody for its answer
    }

    private static void answerAll(BlockingQueue<String> questions, OutputStream out) {
        Brokers brokers = null;
        try {
            while (true) {
                Map<String, Object> question = Json.object(questions.take());
                AnswerWriter answers = new AnswerWriter(out);
                try {
                    if (brokers == null) {
                        brokers = new Brokers(question);
                        brokers.connect();
                        answers.ok(null);
                    } else {
                        brokers.answer(question, answers);
                    }
                } catch (Exception error) {
                    if (brokers != null) {
                        brokers.forget();
                    }
                    answers.refuse(BrokerError.of(error));
                }
            }
        } catch (IOException | InterruptedException gone) {
            System.exit(0); // nobody reads the answers any more
        } catch (Error fatal) {
            System.err.println(fatal);
            Runtime.getRuntime().halt(1);
        }
    }
}
