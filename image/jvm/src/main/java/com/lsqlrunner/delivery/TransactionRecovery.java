package com.lsqlrunner.delivery;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTransactionsOptions;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TransactionalIdNotFoundException;
import org.apache.kafka.common.utils.ProducerIdAndEpoch;

/**
 * Commits the transactions that an earlier process has left open, because consumers of uncommitted records have already
 * seen their records.
 */
final class TransactionRecovery {
    /** The state of a transaction changes once more after its producer has ended it. */
    private static final int ATTEMPTS = 5;

    private final Admin admin;
    private final String prefix;
    private final Map<String, Object> producer;
    private final Duration timeout;

    /**
     * The state at the brokers.
     *
     * @param ids the number of the last transactional id, plus one
     * @param hasAborted whether the last transaction of an id was aborted: only the brokers do so, if it was open for
     *     too long
     * @param timeoutsMs of their transactions
     */
    record Known(int ids, boolean hasAborted, Set<Long> timeoutsMs) {}

    /**
     * @param prefix of the transactional ids; a number follows
     * @param producer settings of the producer
     * @param timeout of each request
     */
    TransactionRecovery(Admin admin, String prefix, Map<String, Object> producer, Duration timeout) {
        this.admin = admin;
        this.prefix = prefix;
        this.producer = producer;
        this.timeout = timeout;
    }

    /**
     * Commits all open transactions of the query.
     *
     * @throws KafkaException the brokers do not answer, or refuse it
     */
    Known commitOpen() {
        NavigableMap<Integer, TransactionDescription> transactions = all();
        transactions.forEach(this::commit);
        Set<Long> timeoutsMs = new HashSet<>();
        transactions.values().forEach(each -> timeoutsMs.add(each.transactionTimeoutMs()));
        boolean hasAborted = transactions.values().stream().anyMatch(TransactionRecovery::isAborted);
        return new Known(transactions.isEmpty() ? 0 : transactions.lastKey() + 1, hasAborted, timeoutsMs);
    }

    /**
     * All transactional ids of the query that the brokers know, by number. Numbers may be missing: the brokers forget
     * an id that was not used for a week, and ids with high numbers are used less.
     */
    private NavigableMap<Integer, TransactionDescription> all() {
        Set<Integer> numbers = new TreeSet<>();
        for (TransactionListing each :
                KafkaFutures.result(admin.listTransactions(listing()).all())) {
            String number = each.transactionalId().startsWith(prefix)
                    ? each.transactionalId().substring(prefix.length())
                    : "";
            if (!number.isEmpty() && number.chars().allMatch(Character::isDigit)) {
                numbers.add(Integer.parseInt(number));
            }
        }
        return describe(numbers);
    }

    private ListTransactionsOptions listing() {
        return new ListTransactionsOptions().timeoutMs((int) timeout.toMillis());
    }

    /**
     * Commits the open transactions of a processor's queries that do not run any more, for example after a state was
     * reset.
     *
     * @param app the prefix of the processor's transactional ids
     * @param running the prefixes of the transactional ids of its queries
     * @throws org.apache.kafka.common.errors.UnsupportedVersionException the brokers, before 3.0, do not list
     *     transactions
     */
    static void commitAbandoned(
            Admin admin, String app, Collection<String> running, Map<String, Object> producer, Duration timeout) {
        var open = new ListTransactionsOptions().filterStates(Set.of(TransactionState.ONGOING));
        for (TransactionListing each :
                KafkaFutures.result(admin.listTransactions(open).all())) {
            String id = each.transactionalId();
            if (id.startsWith(app) && running.stream().noneMatch(id::startsWith)) {
                int number = id.lastIndexOf('/') + 1;
                if (id.substring(number).chars().allMatch(Character::isDigit)) {
                    TransactionRecovery recovery =
                            new TransactionRecovery(admin, id.substring(0, number), producer, timeout);
                    int slot = Integer.parseInt(id.substring(number));
                    recovery.describe(slot, slot + 1).forEach(recovery::commit);
                }
            }
        }
    }

    /**
     * Commits the open transaction of one id.
     *
     * @return the state of the id before; null if the brokers do not know it
     */
    TransactionDescription commitOpen(int number) {
        TransactionDescription transaction = describe(number);
        commit(number, transaction);
        return transaction;
    }

    /** The state of one id; null if the brokers do not know it. */
    TransactionDescription describe(int number) {
        return describe(number, number + 1).get(number);
    }

    private void commit(int number, TransactionDescription first) {
        TransactionDescription transaction = first;
        for (int attempt = 1; isOpen(transaction); attempt++) {
            Map<String, Object> settings = new HashMap<>(producer);
            settings.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, prefix + number);
            settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, timeout.toMillis());
            try {
                ResumedTransaction.commit(settings, new ProducerIdAndEpoch(transaction.producerId(), (short)
                        transaction.producerEpoch()));
                return;
            } catch (KafkaException refused) {
                transaction = describe(number);
                if (attempt == ATTEMPTS && isOpen(transaction)) {
                    throw refused;
                }
            }
        }
    }

    /**
     * Whether another process has the transactional ids now, after producers of this process were fenced. The brokers
     * also fence a producer if its transaction was open for too long; then they have aborted the transaction.
     */
    boolean isReplaced() {
        return all().values().stream().noneMatch(TransactionRecovery::isAborted);
    }

    static boolean isAborted(TransactionDescription transaction) {
        return transaction.state() == TransactionState.COMPLETE_ABORT
                || transaction.state() == TransactionState.PREPARE_ABORT;
    }

    private static boolean isOpen(TransactionDescription transaction) {
        return transaction != null && transaction.state() == TransactionState.ONGOING;
    }

    /** The transactions of the ids with numbers in a range that the brokers know. */
    NavigableMap<Integer, TransactionDescription> describe(int from, int until) {
        return describe(IntStream.range(from, until).boxed().toList());
    }

    private NavigableMap<Integer, TransactionDescription> describe(Collection<Integer> numbers) {
        List<String> ids = numbers.stream().map(number -> prefix + number).toList();
        var described =
                admin.describeTransactions(ids, new DescribeTransactionsOptions().timeoutMs((int) timeout.toMillis()));
        NavigableMap<Integer, TransactionDescription> transactions = new TreeMap<>();
        for (int number : numbers) {
            try {
                transactions.put(number, KafkaFutures.result(described.description(prefix + number)));
            } catch (TransactionalIdNotFoundException unknown) {
                // This id was never used, or not for a week.
            }
        }
        return transactions;
    }
}
