package com.lsqlrunner.workers;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.rpc.RpcCallContext;
import org.apache.spark.rpc.RpcEndpoint;
import org.apache.spark.rpc.RpcEnv;
import scala.PartialFunction;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/**
 * Answers a worker that asks whether it may join. Requests and responses are texts: the classes of another version of
 * Spark might not be readable.
 */
final class Admission implements RpcEndpoint {
    /** A worker that was refused. */
    record Refused(String address, String version) {}

    static final String NAME = "lsql-admission";
    static final String ACCEPTED = "accepted";
    private static final int MAX_REFUSED = 100;
    private static final int MAX_CHARS = 100;

    private final RpcEnv env;
    private final String version;
    private final Map<String, Refused> refused = new LinkedHashMap<>();

    Admission(RpcEnv env, String version) {
        this.env = env;
        this.version = version;
    }

    /** The request of a worker. */
    static String question(String address, String version) {
        return address + " " + version;
    }

    /** The workers that were refused since the last call, each once. */
    synchronized List<Refused> takeRefused() {
        List<Refused> all = new ArrayList<>(refused.values());
        refused.clear();
        return all;
    }

    /** {@link #ACCEPTED}, or the version of this processor. */
    synchronized String answer(String question) {
        String[] words = question.split(" ", 2);
        String asked = words.length == 2 ? words[1] : "";
        if (asked.equals(version)) {
            return ACCEPTED;
        }
        if (refused.size() < MAX_REFUSED) {
            refused.put(words[0], new Refused(printable(words[0]), printable(asked)));
        }
        return version;
    }

    private static String printable(String text) {
        String safe = text.replaceAll("[^A-Za-z0-9.:+_\\[\\]-]", "?");
        return safe.substring(0, Math.min(safe.length(), MAX_CHARS));
    }

    @Override
    public RpcEnv rpcEnv() {
        return env;
    }

    @Override
    public PartialFunction<Object, BoxedUnit> receiveAndReply(RpcCallContext context) {
        return new AbstractPartialFunction<>() {
            @Override
            public boolean isDefinedAt(Object message) {
                return message instanceof String;
            }

            @Override
            public <A, B> B applyOrElse(A message, scala.Function1<A, B> otherwise) {
                if (!isDefinedAt(message)) {
                    return otherwise.apply(message);
                }
                context.reply(answer((String) message));
                @SuppressWarnings("unchecked")
                B nothing = (B) BoxedUnit.UNIT;
                return nothing;
            }
        };
    }
}
