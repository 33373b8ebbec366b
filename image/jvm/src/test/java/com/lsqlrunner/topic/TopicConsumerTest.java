package com.lsqlrunner.topic;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.errors.LsqlException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponsePartition;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponseTopic;
import org.apache.kafka.common.requests.MetadataResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a consumer does when its metadata says that the topic is another one. No broker is needed. */
class TopicConsumerTest {
    private static final String TOPIC = "t";
    private static final String ID = "0000000000000001ffffffffffffffff";
    private static final Uuid SAME = new Uuid(1, -1);

    private TopicConsumer consumer;

    private void open(String id) {
        consumer = new TopicConsumer(Map.of("bootstrap.servers", "127.0.0.1:1"), TOPIC, id);
        consumer.assign(List.of(new TopicPartition(TOPIC, 0)));
    }

    @AfterEach
    void close() {
        consumer.close(Duration.ZERO);
    }

    /** Lets the consumer receive the metadata of its topic. */
    private void receive(Uuid id) {
        Node node = new Node(0, "127.0.0.1", 1);
        var partition = new MetadataResponsePartition()
                .setPartitionIndex(0)
                .setLeaderId(0)
                .setLeaderEpoch(0)
                .setReplicaNodes(List.of(0))
                .setIsrNodes(List.of(0));
        var topic = new MetadataResponseTopic().setName(TOPIC).setTopicId(id).setPartitions(List.of(partition));
        consumer.metadata()
                .updateWithCurrentRequestVersion(
                        MetadataResponse.prepareResponse(
                                (short) 12, 0, List.of(node), "cluster", 0, List.of(topic), -1),
                        false,
                        0);
    }

    @Test
    void aTopicThatHasReplacedTheExpectedOneIsNotRead() {
        open(ID);
        receive(SAME);
        assertDoesNotThrow(() -> consumer.poll(Duration.ZERO));
        receive(new Uuid(1, 2));

        LsqlException error = assertThrows(LsqlException.class, () -> consumer.poll(Duration.ZERO));

        assertEquals("LSQL_TOPIC_RECREATED", error.getCondition());
        assertEquals(Map.of("topic", TOPIC), error.getMessageParameters());
    }

    @Test
    void aTopicIsReadIfItsIdIsNotKnown() {
        open(ID);
        assertDoesNotThrow(() -> consumer.poll(Duration.ZERO));
        receive(Uuid.ZERO_UUID);
        assertDoesNotThrow(() -> consumer.poll(Duration.ZERO));
    }

    @Test
    void anyTopicIsReadIfNoIdIsExpected() {
        open("");
        receive(SAME);
        assertDoesNotThrow(() -> consumer.poll(Duration.ZERO));
    }
}
