package com.lsqlrunner.delivery;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Producers of {@link ProducerSlots} without brokers. Transactional ids begin with {@code q/}. */
final class FakeProducers {
    private final List<Fake> opened = new ArrayList<>();
    private int longest = Integer.MAX_VALUE;
    private RuntimeException tooLong;

    /** A producer that acknowledges each record, and remembers how it was closed. */
    final class Fake extends MockProducer<byte[], byte[]> {
        private final Map<String, Object> settings;
        private Duration closeTimeout;
        private boolean hasAborted;

        private Fake(Map<String, Object> settings) {
            super(true, new ByteArraySerializer(), new ByteArraySerializer());
            this.settings = settings;
        }

        @Override
        public void initTransactions() {
            if (timeoutMs() > longest) {
                throw tooLong;
            }
            super.initTransactions();
        }

        @Override
        public void abortTransaction() {
            hasAborted = true;
            super.abortTransaction();
        }

        @Override
        public void close(Duration timeout) {
            closeTimeout = timeout;
            super.close(timeout);
        }

        private int timeoutMs() {
            return Integer.parseInt(settings.get("transaction.timeout.ms").toString());
        }

        /** How long the client may take to end its transaction; a longer time than 0 lets it abort. */
        Duration closeTimeout() {
            return closeTimeout;
        }

        boolean hasAborted() {
            return hasAborted;
        }
    }

    ProducerSlots slots(Map<String, Object> settings) {
        return new ProducerSlots("q/", settings, all -> {
            Fake producer = new Fake(Map.copyOf(all));
            opened.add(producer);
            return producer;
        });
    }

    /** Lets producers with a longer transaction timeout fail. */
    void refuseTimeoutsOver(int timeoutMs, RuntimeException error) {
        longest = timeoutMs;
        tooLong = error;
    }

    List<Fake> opened() {
        return opened;
    }

    List<Object> ids() {
        return opened.stream()
                .map(producer -> producer.settings.get("transactional.id"))
                .toList();
    }

    List<Integer> timeouts() {
        return opened.stream().map(Fake::timeoutMs).toList();
    }
}
