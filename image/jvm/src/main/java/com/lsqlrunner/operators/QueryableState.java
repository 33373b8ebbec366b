package com.lsqlrunner.operators;

import java.util.List;
import java.util.function.Function;

/** An operator that can tell the rows in its state, also where its query does not run. */
public interface QueryableState {
    /** The state variable with one value for each group. */
    String variable();

    /**
     * The rows of a group: for each, the values of the output of the operator by the names of their columns, which are
     * computed when they are asked for.
     *
     * @param id of the group
     * @param stored the value of the variable
     */
    List<Function<String, Object>> rows(byte[] id, byte[] stored);
}
