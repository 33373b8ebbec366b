package com.lsqlrunner.delivery;

import java.io.Serializable;

/** The producer that owns a transactional id: brokers refuse earlier producers. */
public record ProducerOwner(long producerId, int epoch) implements Serializable {
    private static final long serialVersionUID = 1L;

    /** Whether this producer has taken the id directly from another one, without a third one in between. */
    boolean follows(ProducerOwner before) {
        return before != null && producerId == before.producerId && epoch == before.epoch + 1;
    }
}
