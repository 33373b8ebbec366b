package com.lsqlrunner.bench;

import java.util.List;
import java.util.Properties;

/**
 * The topics of a workload.
 *
 * @param name of the topology
 * @param source topic of position reports
 * @param other second topic: the ships of a join with a table, or the calls of a join of streams; empty if there is none
 * @param targets topics of the results
 * @param registry URL of the schema registry
 * @param schemaId id of the schema of the results, for AVRO
 */
record Workload(String name, String source, String other, List<String> targets, String registry, int schemaId) {
    static Workload of(Properties settings) {
        return new Workload(
                settings.getProperty("bench.workload"),
                settings.getProperty("bench.source"),
                settings.getProperty("bench.other", ""),
                List.of(settings.getProperty("bench.targets").split(",")),
                settings.getProperty("bench.registry", ""),
                Integer.parseInt(settings.getProperty("bench.schema.id", "0")));
    }

    String target() {
        return targets.get(0);
    }
}
