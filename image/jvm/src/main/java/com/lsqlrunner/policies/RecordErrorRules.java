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
 * Which exceptions are a record's own. The conditions come from the engine, which classifies the end of a query by the
 * same ones. All other exceptions (brokers, the registry, memory, interrupts, bugs) are not about a record.
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
     * Rules in JSON: {@code conditions}, each with its side and the runner's error code; {@code never}, conditions that
     * make an exception none of the record's, whatever it wraps or is wrapped in.
     */
    static RecordErrorRules of(String rules) {
        try {
            return new RecordErrorRules(JSON.readTree(rules));
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** The record's error that an exception is; null if it is not about the record. */
    RecordError find(Throwable thrown) {
        for (Throwable each = thrown; each != null; each = each.getCause() == each ? null : each.getCause()) {
            if (each instanceof VirtualMachineError || each instanceof InterruptedException) {
                return null;
            }
        }
        RecordError found = null;
        for (ErrorChain.Link link : ErrorChain.of(thrown)) {
            if (never.contains(link.condition())) {
                return null;
            }
            Rule rule = rules.get(link.condition());
            if (rule != null) {
                found = new RecordError(rule.side, rule.code, link.condition() + ": " + link.reason());
            }
        }
        return found;
    }

    private record Rule(String side, String code) {
        static Rule of(JsonNode node) {
            return new Rule(node.get(0).asText(), node.get(1).asText());
        }
    }
}
