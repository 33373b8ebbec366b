package com.lsqlrunner.delivery;

import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.errors.InterruptException;

/** Waits for the results of Kafka's admin client. */
final class KafkaFutures {
    private KafkaFutures() {}

    /**
     * The result, when it is there.
     *
     * @throws KafkaException the request has failed, or the thread was interrupted
     */
    static <T> T result(KafkaFuture<T> future) {
        try {
            return future.get();
        } catch (InterruptedException interrupt) {
            throw new InterruptException(interrupt);
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof KafkaException thrown ? thrown : new KafkaException(failed.getCause());
        }
    }
}
