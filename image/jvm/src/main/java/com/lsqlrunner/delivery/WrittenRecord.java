package com.lsqlrunner.delivery;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.RecordBatch;

/** A record of a target, without its value. */
record WrittenRecord(TopicPartition partition, long timestamp, byte[] key) {
    static WrittenRecord of(ConsumerRecord<byte[], byte[]> record) {
        return new WrittenRecord(
                new TopicPartition(record.topic(), record.partition()), record.timestamp(), record.key());
    }

    /**
     * The record that deletes it.
     *
     * @param batch the name of the batch that writes it
     */
    ProducerRecord<byte[], byte[]> tombstone(String batch, RecordIdentity identity) {
        Long time = timestamp == RecordBatch.NO_TIMESTAMP ? null : timestamp;
        byte[] value = null;
        ProducerRecord<byte[], byte[]> tombstone =
                new ProducerRecord<>(partition.topic(), partition.partition(), time, key, value);
        tombstone.headers().add(RecordHeaderNames.BATCH, batch.getBytes(StandardCharsets.UTF_8));
        tombstone
                .headers()
                .add(RecordHeaderNames.IDENTITY, RecordHeaderNames.identity(identity.high(), identity.low()));
        return tombstone;
    }
}
