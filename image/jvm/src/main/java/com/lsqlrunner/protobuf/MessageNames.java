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
 * Where the messages of a {@code .proto} file stand: a record says by such a place which message it is. Nothing else of
 * a writer's file is needed, so nothing else is read.
 */
final class MessageNames {
    private static final Pattern TOKEN = Pattern.compile(
            "//[^\\n]*+|/\\*.*?\\*/"
                    + "|\"[^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+\"|'[^'\\\\]*+(?:\\\\.[^'\\\\]*+)*+'"
                    + "|(?<word>[A-Za-z_0-9.]++|[{};])",
            Pattern.DOTALL);

    private MessageNames() {}

    /** The names of a file's messages, {@code Outer.Inner}, by their places. */
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
            Scope around = scopes.peek();
            switch (word) {
                case "{" -> {
                    boolean isMessage = around.place != null
                            && statement.size() == 2
                            && statement.get(0).equals("message");
                    Scope scope = isMessage ? around.next(statement.get(1)) : new Scope("", null);
                    if (isMessage) {
                        found.put(scope.place, scope.name);
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

    /** What braces are around; no place where they are not a message's. */
    private static final class Scope {
        private final String name;
        private final List<Integer> place;
        private int messages;

        Scope(String name, List<Integer> place) {
            this.name = name;
            this.place = place;
        }

        Scope next(String inner) {
            List<Integer> below = new ArrayList<>(place);
            below.add(messages++);
            return new Scope(name.isEmpty() ? inner : name + "." + inner, below);
        }
    }
}
