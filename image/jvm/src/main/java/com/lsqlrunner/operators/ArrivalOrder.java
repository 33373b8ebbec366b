package com.lsqlrunner.operators;

import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.Row;
import scala.collection.Iterator;

/** The order in which records arrived, which a shuffle does not preserve. */
final class ArrivalOrder {
    /** The first columns of the input of every stateful operator. */
    static final int ID = 0;

    static final int TS = 1;
    static final int PARTITION = 2;
    static final int OFFSET = 3;

    /** By offset within a partition. All records of a key of a topic are in one partition. */
    static final Comparator<Row> BY_PARTITION_AND_OFFSET =
            Comparator.<Row>comparingInt(row -> row.getInt(PARTITION)).thenComparingLong(row -> row.getLong(OFFSET));

    private ArrivalOrder() {}

    /** Sorts the list by the order of arrival, and returns it. */
    static List<Row> sorted(List<Row> rows) {
        rows.sort(BY_PARTITION_AND_OFFSET);
        return rows;
    }

    /** The rows in the order of arrival. */
    static List<Row> sorted(Iterator<Row> rows) {
        List<Row> all = new java.util.ArrayList<>();
        while (rows.hasNext()) {
            all.add(rows.next());
        }
        return sorted(all);
    }

    /**
     * Calls {@code consumer} for the rows of two topics in one order that preserves the order of each topic. If both
     * topics have a next row, the row with the smaller timestamp comes first, as in Kafka Streams; for equal
     * timestamps, the row of the first topic.
     */
    static void merge(List<Row> first, List<Row> second, RowConsumer consumer) {
        int i = 0;
        int j = 0;
        while (i < first.size() || j < second.size()) {
            boolean isFirst = j == second.size()
                    || (i < first.size()
                            && first.get(i).getLong(TS) <= second.get(j).getLong(TS));
            consumer.accept(isFirst ? first.get(i++) : second.get(j++), isFirst);
        }
    }

    /** Receives a row of the first or of the second topic. */
    interface RowConsumer {
        void accept(Row row, boolean isFirst);
    }
}
