package com.lsqlrunner.policies;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.lsqlrunner.errors.ErrorChain;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Decides which exceptions are errors of a record. The conditions come from the engine, which classifies failures of
 * queries with the same conditions. All other exceptions (brokers, the registry, memory, interrupts, bugs) are not
 * caused by a record.
 */
final class RecordErrorRules {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Map<String, Rule> rules = new HashMap<>();
    private final Set<String> never = new HashSet<>();

    private RecordErrorRules(JsonNode json) {
        json.get("conditions").properties().forEach(entry -> rules.put(entry.getKey(), Rule.of(entry.getValue())));
        json.get("never").forEach(condition -> never.add(condition.asText()));
    }

    /**
     * Parses rules in JSON: {@code conditions}, each with its phase and error code; {@code never}, conditions of
     * exceptions that are not errors of a record even if another exception in the chain is.
     */
    static RecordErrorRules of(String rules) {
        try {
            return new RecordErrorRules(JSON.readTree(rules));
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** The error of the record for an exception; null if the record did not cause the exception. */
    RecordError find(Throwable thrown) {
        for (Throwable each = thrown; each != null; each = each.getCause() == each ? null : each.getCause()) {
            if (each instanceof VirtualMachineError || each instanceof InterruptedException) {
                return null;
            }
        }
        RecordError error = null;
        for (ErrorChain.Link link : ErrorChain.of(thrown)) {
            if (never.contains(link.condition())) {
                return null;
            }
            Rule rule = rules.get(link.condition());
            if (rule != null) {
                error = new RecordError(rule.phase, rule.code, link.condition() + ": " + link.reason());
            }
        }
        return error;
    }

    private record Rule(String phase, String code) {
        static Rule of(JsonNode node) {
            return new Rule(node.get(0).asText(), node.get(1).asText());
        }
    }
}
