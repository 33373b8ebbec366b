package com.lsqlrunner.delivery;

import java.io.Serializable;
import org.apache.kafka.clients.admin.TransactionDescription;

/** The producer that owns a transactional id: brokers refuse earlier producers. */
public record ProducerOwner(long producerId, int epoch) implements Serializable {
    private static final long serialVersionUID = 1L;

    static ProducerOwner of(TransactionDescription transaction) {
        return new ProducerOwner(transaction.producerId(), transaction.producerEpoch());
    }

    /** Whether this producer has taken the id directly from another one, without a third one in between. */
    boolean follows(ProducerOwner before) {
        return before != null && producerId == before.producerId && epoch == before.epoch + 1;
    }
}
