package com.lsqlrunner.state;

import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.Row;
import scala.collection.Iterator;

/** The order in which records arrived. A shuffle does not keep it. */
final class ArrivalOrder {
    /** The first columns of every input of a stateful operator. */
    static final int ID = 0;

    static final int TS = 1;
    static final int PARTITION = 2;
    static final int OFFSET = 3;

    /** Within a partition by offset. The records of one key of a topic are in one partition. */
    static final Comparator<Row> OF_ARRIVAL =
            Comparator.<Row>comparingInt(row -> row.getInt(PARTITION)).thenComparingLong(row -> row.getLong(OFFSET));

    private ArrivalOrder() {}

    /** Rows in the order of arrival. */
    static List<Row> sorted(List<Row> rows) {
        rows.sort(OF_ARRIVAL);
        return rows;
    }

    /** Rows in the order of arrival. */
    static List<Row> sorted(Iterator<Row> rows) {
        List<Row> found = new java.util.ArrayList<>();
        while (rows.hasNext()) {
            found.add(rows.next());
        }
        return sorted(found);
    }

    /**
     * Calls back for the rows of two topics in one order that keeps the order of each topic. Of the next rows of both,
     * the one with the smaller timestamp comes first, as in Kafka Streams; if they are equal, the first topic's.
     */
    static void merged(List<Row> first, List<Row> second, Taking each) {
        int one = 0;
        int two = 0;
        while (one < first.size() || two < second.size()) {
            boolean isFirst = two == second.size()
                    || (one < first.size()
                            && first.get(one).getLong(TS) <= second.get(two).getLong(TS));
            each.take(isFirst ? first.get(one++) : second.get(two++), isFirst);
        }
    }

    /** What is done with a row, which is one of the first topic or of the second. */
    interface Taking {
        void take(Row row, boolean isFirst);
    }
}
