package com.lsqlrunner.delivery;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The producers of at-least-once delivery: one for each output, which all its tasks share. */
public final class SharedProducers {
    private static final ConcurrentMap<String, Producer<byte[], byte[]>> OPEN = new ConcurrentHashMap<>();

    private SharedProducers() {}

    /** A sender of an output. The first call opens the producer. */
    public static RecordSender sender(String output, Map<String, String> settings) {
        return sender(OPEN.computeIfAbsent(output, name -> {
            Map<String, Object> all = new HashMap<>(settings);
            return new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
        }));
    }

    /** A sender of a producer. */
    public static RecordSender sender(Producer<byte[], byte[]> producer) {
        return new Sender(producer);
    }

    /** Closes the producer of an output. Records that it has not sent yet belong to a batch that did not end. */
    public static void close(String output) {
        Producer<byte[], byte[]> producer = OPEN.remove(output);
        if (producer != null) {
            producer.close(Duration.ZERO);
        }
    }

    private record Sender(Producer<byte[], byte[]> producer) implements RecordSender {
        @Override
        public void send(ProducerRecord<byte[], byte[]> record, Callback callback) {
            producer.send(record, callback);
        }

        @Override
        public void commit() {
            producer.flush();
        }

        @Override
        public void close() {
            // The producer belongs to all tasks.
        }
    }
}
