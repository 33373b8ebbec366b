package com.lsqlrunner.delivery;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TransactionalIdNotFoundException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.utils.ProducerIdAndEpoch;

/**
 * Ends the transactions that an earlier process has left open. It commits them: the consumers of uncommitted records
 * have already seen their records, so these must stay.
 */
final class TransactionRecovery {
    /** So many transactional ids are looked up in one request; they are numbered without gaps. */
    private static final int LOOKED_UP = 16;

    /** A transaction that a producer has just ended changes its state once more. */
    private static final int ATTEMPTS = 5;

    private final Admin admin;
    private final String prefix;
    private final Map<String, Object> producer;

    /**
     * @param prefix of the transactional ids; a number follows
     * @param producer settings of the producer
     */
    TransactionRecovery(Admin admin, String prefix, Map<String, Object> producer) {
        this.admin = admin;
        this.prefix = prefix;
        this.producer = producer;
    }

    /**
     * Commits all open transactions of the query.
     *
     * @return the number of transactional ids that the brokers know; 0 for brokers before 3.0, which do not describe
     *     transactions: the first use of an id then aborts its open transaction
     * @throws KafkaException the brokers do not answer, or refuse it
     */
    int commitOpen() {
        int known = 0;
        for (int from = 0; from == known; from += LOOKED_UP) {
            Map<Integer, TransactionDescription> found = describe(from, from + LOOKED_UP);
            if (found.isEmpty()) {
                break;
            }
            known = ((TreeMap<Integer, TransactionDescription>) found).lastKey() + 1;
            found.forEach(this::commit);
        }
        return known;
    }

    /**
     * Commits the open transactions of a processor's queries that do not run any more, for example of a state that was
     * reset.
     *
     * @param app the beginning of the processor's transactional ids
     * @param running the beginnings of those of its queries
     */
    static void commitAbandoned(Admin admin, String app, Collection<String> running, Map<String, Object> producer) {
        var open = new ListTransactionsOptions().filterStates(Set.of(TransactionState.ONGOING));
        Collection<TransactionListing> listed =
                result(admin.listTransactions(open).all());
        if (listed == null) {
            return; // brokers before 3.0
        }
        for (TransactionListing each : listed) {
            String id = each.transactionalId();
            if (id.startsWith(app) && running.stream().noneMatch(id::startsWith)) {
                int number = id.lastIndexOf('/') + 1;
                if (id.substring(number).chars().allMatch(Character::isDigit)) {
                    TransactionRecovery recovery = new TransactionRecovery(admin, id.substring(0, number), producer);
                    int slot = Integer.parseInt(id.substring(number));
                    recovery.describe(slot, slot + 1).forEach(recovery::commit);
                }
            }
        }
    }

    private void commit(int number, TransactionDescription first) {
        TransactionDescription transaction = first;
        for (int attempt = 1; isOpen(transaction); attempt++) {
            Map<String, Object> settings = new HashMap<>(producer);
            settings.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, prefix + number);
            try {
                ResumedTransaction.commit(settings, new ProducerIdAndEpoch(transaction.producerId(), (short)
                        transaction.producerEpoch()));
                return;
            } catch (KafkaException refused) {
                transaction = describe(number, number + 1).get(number);
                if (attempt == ATTEMPTS && isOpen(transaction)) {
                    throw refused;
                }
            }
        }
    }

    /**
     * Whether another process has the transactional ids now, after producers of this one were fenced. The brokers fence
     * a producer themselves if its transaction was open for too long; then they have aborted it.
     */
    boolean isReplaced() {
        return describe(0, LOOKED_UP).values().stream()
                .noneMatch(each -> each.state() == TransactionState.COMPLETE_ABORT
                        || each.state() == TransactionState.PREPARE_ABORT);
    }

    private static boolean isOpen(TransactionDescription transaction) {
        return transaction != null && transaction.state() == TransactionState.ONGOING;
    }

    /** The transactions of the ids with these numbers that the brokers know. */
    private Map<Integer, TransactionDescription> describe(int from, int until) {
        List<String> ids = new ArrayList<>();
        for (int number = from; number < until; number++) {
            ids.add(prefix + number);
        }
        var described = admin.describeTransactions(ids);
        Map<Integer, TransactionDescription> found = new TreeMap<>();
        for (int number = from; number < until; number++) {
            TransactionDescription transaction = result(described.description(prefix + number));
            if (transaction != null) {
                found.put(number, transaction);
            }
        }
        return found;
    }

    /** The result; null if the brokers do not know it. */
    private static <T> T result(KafkaFuture<T> future) {
        try {
            return future.get();
        } catch (InterruptedException interrupt) {
            throw new InterruptException(interrupt);
        } catch (ExecutionException failed) {
            Throwable reason = failed.getCause();
            if (reason instanceof TransactionalIdNotFoundException || reason instanceof UnsupportedVersionException) {
                return null;
            }
            throw reason instanceof KafkaException thrown ? thrown : new KafkaException(reason);
        }
    }
}
