package com.lsqlrunner.protobuf;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds the messages in the text of a {@code .proto} file by their indexes, with which a record identifies its message.
 * A group is a message of the message or file in which it is, also in a {@code oneof} and in an {@code extend}. Nothing
 * else in a writer's file is needed, so nothing else is parsed.
 */
final class MessageNames {
    private static final Pattern TOKEN = Pattern.compile(
            "//[^\\n]*+|/\\*.*?\\*/"
                    + "|\"[^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+\"|'[^'\\\\]*+(?:\\\\.[^'\\\\]*+)*+'"
                    + "|(?<word>[A-Za-z_0-9.]++|[{};\\[\\]])",
            Pattern.DOTALL);

    private MessageNames() {}

    /** The names of the messages of a file, {@code Outer.Inner}, by their indexes. */
    static Map<List<Integer>, String> of(String text) {
        Map<List<Integer>, String> names = new HashMap<>();
        Deque<Scope> scopes = new ArrayDeque<>();
        scopes.push(new Scope("", List.of(), false));
        int brackets = 0;
        List<String> statement = new ArrayList<>();
        Matcher token = TOKEN.matcher(text);
        while (token.find()) {
            String word = token.group("word");
            if (word == null) {
                continue;
            }
            if (word.equals("[") || word.equals("]")) { // the options of a field, which can contain braces
                brackets = Math.max(0, brackets + (word.equals("[") ? 1 : -1));
                continue;
            }
            if (brackets > 0) {
                continue;
            }
            switch (word) {
                case "{" -> {
                    Scope scope = scopes.peek().open(statement);
                    if (scope.isMessage) {
                        names.put(scope.indexes, scope.name);
                    }
                    scopes.push(scope);
                    statement.clear();
                }
                case "}" -> {
                    if (scopes.size() > 1) {
                        scopes.pop();
                    }
                    statement.clear();
                }
                case ";" -> statement.clear();
                default -> statement.add(word);
            }
        }
        return names;
    }

    /** The content of a pair of braces. */
    private static final class Scope {
        private static final Set<String> LABELS = Set.of("optional", "required", "repeated");

        private final String name;
        private final List<Integer> indexes;
        private final boolean isMessage;
        /** The message or file that the messages in these braces belong to; null if there can be none. */
        private final Scope owner;

        private int messages;

        /** A message, or the file. */
        Scope(String name, List<Integer> indexes, boolean isMessage) {
            this.name = name;
            this.indexes = indexes;
            this.isMessage = isMessage;
            owner = this;
        }

        /** Other braces. */
        private Scope(Scope owner) {
            name = "";
            indexes = List.of();
            isMessage = false;
            this.owner = owner;
        }

        /** The braces after these words. */
        Scope open(List<String> statement) {
            if (owner == null) {
                return new Scope(null);
            }
            if (owner == this && statement.size() == 2 && statement.get(0).equals("message")) {
                return owner.child(statement.get(1));
            }
            int group = !statement.isEmpty() && LABELS.contains(statement.get(0)) ? 1 : 0;
            if (statement.size() == group + 3 && statement.get(group).equals("group")) { // group Name = 1 {
                return owner.child(statement.get(group + 1));
            }
            boolean isTransparent =
                    statement.size() == 2 && Set.of("oneof", "extend").contains(statement.get(0));
            return new Scope(isTransparent ? owner : null);
        }

        private Scope child(String innerName) {
            List<Integer> childIndexes = new ArrayList<>(indexes);
            childIndexes.add(messages++);
            return new Scope(name.isEmpty() ? innerName : name + "." + innerName, childIndexes, true);
        }
    }
}
