package com.lsqlrunner.delivery;

import com.lsqlrunner.errors.Unchecked;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.internals.TransactionManager;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.ProducerIdAndEpoch;

/**
 * Commits an open transaction of an earlier process, with the id and epoch of its producer. Kafka's client has no
 * method for it: its {@code initTransactions} aborts the transaction, and consumers of uncommitted records have already
 * seen its records.
 *
 * <p>It uses private members of kafka-clients 3.9, which {@code kafka-internals.txt} of the tests lists; a test on a
 * real broker shows whether they still work.
 */
final class ResumedTransaction {
    private ResumedTransaction() {}

    /**
     * Commits the transaction.
     *
     * @param settings of a producer, with its transactional id
     * @param owner the id and epoch of the producer that has begun it
     * @throws RuntimeException if the brokers refuse the commit: the transaction has ended, or another producer has
     *     fenced its owner
     */
    static void commit(Map<String, Object> settings, ProducerIdAndEpoch owner) {
        KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
        try {
            resume(producer, owner);
            producer.commitTransaction();
        } catch (ReflectiveOperationException changed) {
            throw Unchecked.thrown(changed);
        } finally {
            producer.close(Duration.ZERO);
        }
    }

    /**
     * Sets a new producer to the state of the owner within its transaction.
     *
     * @return the transaction manager of the new producer
     */
    static TransactionManager resume(KafkaProducer<byte[], byte[]> producer, ProducerIdAndEpoch owner)
            throws ReflectiveOperationException {
        TransactionManager manager = (TransactionManager)
                field(KafkaProducer.class, "transactionManager").get(producer);
        Class<?> states = Class.forName(TransactionManager.class.getName() + "$State");
        Method transition = method("transitionTo", states);
        Method setOwner = method("setProducerIdAndEpoch", ProducerIdAndEpoch.class);
        synchronized (manager) {
            transition.invoke(manager, state(states, "INITIALIZING"));
            setOwner.invoke(manager, owner);
            transition.invoke(manager, state(states, "READY"));
            transition.invoke(manager, state(states, "IN_TRANSACTION"));
            field(TransactionManager.class, "transactionStarted").setBoolean(manager, true);
        }
        return manager;
    }

    private static Object state(Class<?> states, String name) throws ReflectiveOperationException {
        return field(states, name).get(null);
    }

    private static Field field(Class<?> owner, String name) throws ReflectiveOperationException {
        Field field = owner.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    private static Method method(String name, Class<?> parameter) throws ReflectiveOperationException {
        Method method = TransactionManager.class.getDeclaredMethod(name, parameter);
        method.setAccessible(true);
        return method;
    }
}
