package com.lsqlrunner.sink;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The queries whose present batch writes nothing, by {@code <app id>/<query>}: they build state again from records
 * whose results the targets have.
 */
public final class MutedQueries {
    private static final Set<String> NAMES = ConcurrentHashMap.newKeySet();

    private MutedQueries() {}

    public static boolean contains(String query) {
        return NAMES.contains(query);
    }

    public static void add(String query) {
        NAMES.add(query);
    }

    public static void remove(String query) {
        NAMES.remove(query);
    }
}
