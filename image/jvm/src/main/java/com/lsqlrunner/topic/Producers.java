package com.lsqlrunner.topic;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The producers of this JVM, one for each output; all tasks of a query share a producer. */
final class Producers {
    private static final ConcurrentMap<String, Producer<byte[], byte[]>> OPEN = new ConcurrentHashMap<>();

    private Producers() {}

    /** The producer of an output; the first call opens it. */
    static Producer<byte[], byte[]> of(String output, Map<String, String> settings) {
        return OPEN.computeIfAbsent(output, name -> {
            Map<String, Object> all = new HashMap<>(settings);
            return new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
        });
    }

    /** Closes the producer of an output. Records that it has not sent yet belong to a batch that did not end. */
    static void close(String output) {
        Producer<byte[], byte[]> producer = OPEN.remove(output);
        if (producer != null) {
            producer.close(Duration.ZERO);
        }
    }
}
