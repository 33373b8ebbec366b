package com.lsqlrunner.function;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** The method {@code call} of a function's class. */
final class CallMethod {
    private CallMethod() {}

    /** The types of its parameters; {@code Object} for each if the class declares several methods or a generic one. */
    static List<Class<?>> parameters(Class<?> type, int count) {
        List<Method> methods = Arrays.stream(type.getMethods())
                .filter(method ->
                        method.getName().equals("call") && !method.isBridge() && method.getParameterCount() == count)
                .toList();
        return methods.size() == 1
                ? List.of(methods.get(0).getParameterTypes())
                : Collections.nCopies(count, Object.class);
    }
}
