package com.lsqlrunner.delivery;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidTxnTimeoutException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Opens producers with numbered transactional ids. */
final class TransactionalProducers {
    /**
     * How long a transaction may stay open: the default of {@code transaction.max.timeout.ms} of brokers. After this
     * time, the brokers abort the transaction of a processor that was killed and did not start again.
     */
    private static final int TIMEOUT_MS = 900_000;

    /** Shorter timeouts are not reduced: the largest reduction would be more than a fiftieth of them. */
    private static final int LEAST_REDUCED_MS = 60_000;

    private final String prefix;
    private final Map<String, Object> settings;
    private final Function<Map<String, Object>, Producer<byte[], byte[]>> newProducer;
    private final int reductionMs;

    /** The longest timeout of whole seconds that the brokers allow, or {@code TIMEOUT_MS}. */
    private volatile int longestMs = TIMEOUT_MS;

    /**
     * @param prefix of the transactional ids
     * @param settings of the producers
     * @param newProducer makes a producer with its settings
     * @param reductionMs the milliseconds by which the transaction timeout is shorter than usual; 0 for the usual
     *     timeout
     */
    TransactionalProducers(
            String prefix,
            Map<String, Object> settings,
            Function<Map<String, Object>, Producer<byte[], byte[]>> newProducer,
            int reductionMs) {
        this.prefix = prefix;
        this.settings = settings;
        this.newProducer = newProducer;
        this.reductionMs = reductionMs;
    }

    /** Creates a producer that connects to brokers. */
    static Producer<byte[], byte[]> ofBrokers(Map<String, Object> settings) {
        return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** Opens the producer with a number. An earlier producer with this id cannot write any more. */
    Producer<byte[], byte[]> open(int number) {
        Map<String, Object> all = new HashMap<>(settings);
        all.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, prefix + number);
        Object timeout = settings.get(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG);
        if (timeout != null) {
            all.put(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, reduce(Integer.parseInt(timeout.toString())));
            return initialized(all);
        }
        all.put(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, reduce(longestMs));
        try {
            return initialized(all);
        } catch (KafkaException failed) {
            if (!isTooLong(failed)) {
                throw failed;
            }
        }
        longestMs = longestAllowed(all, longestMs);
        all.put(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, reduce(longestMs));
        return initialized(all);
    }

    /**
     * The longest transaction timeout of the brokers in milliseconds; 0 if it is not shorter than the timeout of the
     * settings.
     */
    int limitMs() {
        return longestMs == TIMEOUT_MS ? 0 : longestMs;
    }

    /**
     * Searches the longest timeout that the brokers allow, at least a second. Clients need not have the right to read
     * the settings of brokers.
     */
    private int longestAllowed(Map<String, Object> all, int refusedMs) {
        int allowedS = 1;
        int refusedS = refusedMs / 1_000;
        while (refusedS - allowedS > 1) {
            int triedS = (allowedS + refusedS) / 2;
            all.put(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, triedS * 1_000);
            try {
                initialized(all).close(Duration.ZERO);
                allowedS = triedS;
            } catch (KafkaException failed) {
                if (!isTooLong(failed)) {
                    throw failed;
                }
                refusedS = triedS;
            }
        }
        return allowedS * 1_000;
    }

    private int reduce(int timeoutMs) {
        return timeoutMs < LEAST_REDUCED_MS ? timeoutMs : timeoutMs - reductionMs;
    }

    /** Whether the brokers allow only shorter transactions. The client throws this error as a message. */
    private static boolean isTooLong(KafkaException failed) {
        return failed instanceof InvalidTxnTimeoutException
                || String.valueOf(failed.getMessage()).endsWith(Errors.INVALID_TRANSACTION_TIMEOUT.message());
    }

    private Producer<byte[], byte[]> initialized(Map<String, Object> settings) {
        Producer<byte[], byte[]> producer = newProducer.apply(settings);
        try {
            producer.initTransactions();
            return producer;
        } catch (RuntimeException failed) {
            producer.close(Duration.ZERO);
            throw failed;
        }
    }
}
