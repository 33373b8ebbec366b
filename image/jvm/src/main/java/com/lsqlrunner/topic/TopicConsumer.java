package com.lsqlrunner.topic;

import com.lsqlrunner.errors.Condition;
import com.lsqlrunner.errors.LsqlException;
import com.lsqlrunner.errors.Unchecked;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.Metadata;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A consumer of one topic that fails, before it returns a record, if the topic was deleted and created again: its
 * positions would belong to other records.
 *
 * <p>Each fetch names its topic by the id in the metadata of the consumer (Kafka 3.1, KIP-516), and the brokers refuse
 * any other id. So the records have the topic id of the metadata, and comparing it costs no request. Without an id in
 * the metadata, as after the deletion of the topic, the consumer fetches by name. Kafka's client has no method for the
 * id: this class reads the metadata from a private field of kafka-clients 3.9, which {@code kafka-internals.txt} of the
 * tests lists.
 */
public final class TopicConsumer extends KafkaConsumer<byte[], byte[]> {
    private final String topic;

    /** The id of the topic that the positions belong to; null if it is not known. */
    private final Uuid expected;

    private final Metadata metadata;

    /**
     * Opens a consumer.
     *
     * @param settings of the consumer, without deserializers
     * @param id 32 hexadecimal digits; empty if it is not known
     */
    public TopicConsumer(Map<String, Object> settings, String topic, String id) {
        super(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        this.topic = topic;
        this.expected = id.isEmpty() ? null : parsed(id);
        this.metadata = metadata();
    }

    private static Uuid parsed(String id) {
        return new Uuid(Long.parseUnsignedLong(id, 0, 16, 16), Long.parseUnsignedLong(id, 16, 32, 16));
    }

    Metadata metadata() {
        try {
            Object consumer = valueOf(KafkaConsumer.class, this, "delegate");
            return (Metadata) valueOf(consumer.getClass(), consumer, "metadata");
        } catch (ReflectiveOperationException changed) {
            throw Unchecked.thrown(changed);
        }
    }

    private static Object valueOf(Class<?> owner, Object object, String name) throws ReflectiveOperationException {
        Field field = owner.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(object);
    }

    /**
     * Polls for records of the expected topic.
     *
     * @throws LsqlException the topic was deleted and created again
     */
    @Override
    public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
        try {
            ConsumerRecords<byte[], byte[]> records = super.poll(timeout);
            return isExpected() ? records : again(records);
        } catch (OffsetOutOfRangeException missing) {
            isExpected(); // the topic that has replaced it may have fewer records
            throw missing;
        }
    }

    /** Whether the topic has the expected id; false if the consumer does not know its id at the moment. */
    private boolean isExpected() {
        Uuid present = metadata.topicIds().getOrDefault(topic, Uuid.ZERO_UUID);
        if (expected == null || present.equals(expected)) {
            return true;
        }
        if (present.equals(Uuid.ZERO_UUID)) {
            return false;
        }
        throw new LsqlException(Condition.LSQL_TOPIC_RECREATED, Map.of("topic", topic));
    }

    /**
     * Returns no record, and lets the next polls fetch the records again: while the metadata do not contain the topic,
     * the consumer fetches by name, and may get records of another topic with this name.
     */
    private ConsumerRecords<byte[], byte[]> again(ConsumerRecords<byte[], byte[]> records) {
        records.partitions()
                .forEach(partition ->
                        seek(partition, records.records(partition).get(0).offset()));
        return ConsumerRecords.empty();
    }
}
