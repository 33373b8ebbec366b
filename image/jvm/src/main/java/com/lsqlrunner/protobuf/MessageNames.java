package com.lsqlrunner.protobuf;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds the messages in the text of a {@code .proto} file by their indexes, with which a record identifies its message.
 * Nothing else in a writer's file is needed, so nothing else is parsed.
 */
final class MessageNames {
    private static final Pattern TOKEN = Pattern.compile(
            "//[^\\n]*+|/\\*.*?\\*/"
                    + "|\"[^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+\"|'[^'\\\\]*+(?:\\\\.[^'\\\\]*+)*+'"
                    + "|(?<word>[A-Za-z_0-9.]++|[{};])",
            Pattern.DOTALL);

    private MessageNames() {}

    /** The names of the messages of a file, {@code Outer.Inner}, by their indexes. */
    static Map<List<Integer>, String> of(String text) {
        Map<List<Integer>, String> found = new HashMap<>();
        Deque<Scope> scopes = new ArrayDeque<>();
        scopes.push(new Scope("", List.of()));
        List<String> statement = new ArrayList<>();
        Matcher token = TOKEN.matcher(text);
        while (token.find()) {
            String word = token.group("word");
            if (word == null) {
                continue;
            }
            Scope enclosing = scopes.peek();
            switch (word) {
                case "{" -> {
                    boolean isMessage = enclosing.indexes != null
                            && statement.size() == 2
                            && statement.get(0).equals("message");
                    Scope scope = isMessage ? enclosing.child(statement.get(1)) : new Scope("", null);
                    if (isMessage) {
                        found.put(scope.indexes, scope.name);
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
        return found;
    }

    /** The content of a pair of braces; the indexes are null if it is not a message. */
    private static final class Scope {
        private final String name;
        private final List<Integer> indexes;
        private int messages;

        Scope(String name, List<Integer> indexes) {
            this.name = name;
            this.indexes = indexes;
        }

        Scope child(String innerName) {
            List<Integer> childIndexes = new ArrayList<>(indexes);
            childIndexes.add(messages++);
            return new Scope(name.isEmpty() ? innerName : name + "." + innerName, childIndexes);
        }
    }
}
