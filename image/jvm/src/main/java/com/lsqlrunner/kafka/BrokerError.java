package com.lsqlrunner.kafka;

import com.lsqlrunner.errors.Condition;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.regex.Pattern;
import javax.security.auth.login.LoginException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.DisconnectException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicExistsException;

/**
 * Why a question has no answer: a condition that Python decides by, and a reason for people, without class names.
 *
 * @param reason null where there is nothing to say but that no answer came
 */
record BrokerError(Condition condition, String reason) {
    private static final Map<String, String> IN_WORDS = Map.of(
            "Checksum failed", "the keytab holds another key of the principal than the Kerberos server",
            "Pre-authentication information was invalid",
                    "the keytab holds another key of the principal than the Kerberos server",
            "being asked for a password", "the keytab cannot be read, or holds no key of the principal",
            "Unable to obtain password from user", "the keytab cannot be read, or holds no key of the principal",
            "Server not found in Kerberos database", "the Kerberos server does not know the brokers' principal",
            "Cannot locate KDC", "no Kerberos server is named for the realm");
    private static final Pattern NO_CLIENT = Pattern.compile("Failed to (create new|construct) \\w*(Client|consumer)$");
    private static final Pattern NO_MODULE = Pattern.compile("No LoginModule|[Uu]nable to find LoginModule");
    private static final int LONGEST = 300;

    /** The error as a line of JSON has it. */
    Map<String, Object> fields() {
        Map<String, String> parameters = reason == null ? Map.of() : Map.of("reason", reason);
        return Map.of("error", Map.of("condition", condition.name(), "parameters", parameters));
    }

    /** What an exception of Kafka's client means. */
    static BrokerError of(Throwable error) {
        Throwable thrown =
                error instanceof ExecutionException || error instanceof CompletionException ? error.getCause() : error;
        LoginException login = find(thrown, LoginException.class);
        if (login != null) {
            return ofLogin(login);
        }
        if (thrown instanceof ClientNotMade) {
            return ofSettings(thrown);
        }
        if (thrown instanceof AuthenticationException) {
            return new BrokerError(Condition.LSQL_BROKER_LOGIN_REFUSED, words(thrown));
        }
        if (thrown instanceof AuthorizationException) {
            return new BrokerError(Condition.LSQL_BROKER_RIGHTS_MISSING, words(thrown));
        }
        if (thrown instanceof TopicExistsException) {
            return new BrokerError(Condition.LSQL_TOPIC_EXISTS, words(thrown));
        }
        if (thrown instanceof TimeoutException || thrown instanceof java.util.concurrent.TimeoutException) {
            return new BrokerError(Condition.LSQL_BROKER_UNREACHABLE, null);
        }
        if (thrown instanceof DisconnectException || thrown instanceof NetworkException) {
            return new BrokerError(Condition.LSQL_BROKER_UNREACHABLE, words(thrown));
        }
        return new BrokerError(Condition.LSQL_BROKER_FAILED, words(thrown));
    }

    private static BrokerError ofLogin(LoginException login) {
        String text = String.valueOf(login.getMessage());
        if (NO_MODULE.matcher(text).find()) {
            return new BrokerError(Condition.LSQL_BROKER_SETTINGS_INVALID, shortened(text));
        }
        if (find(login, IOException.class) != null) {
            return new BrokerError(
                    Condition.LSQL_BROKER_UNREACHABLE, "the login server does not answer: " + shortened(text));
        }
        return new BrokerError(Condition.LSQL_BROKER_LOGIN_REFUSED, "the login fails: " + words(login));
    }

    private static BrokerError ofSettings(Throwable error) {
        ConfigException config = find(error, ConfigException.class);
        boolean nameless = config != null && String.valueOf(config.getMessage()).contains("No resolvable bootstrap");
        return nameless
                ? new BrokerError(Condition.LSQL_BROKER_UNREACHABLE, "the name cannot be resolved")
                : new BrokerError(Condition.LSQL_BROKER_SETTINGS_INVALID, words(error));
    }

    /** The messages of an exception and its causes, each once, outermost first; a known one in plain words. */
    private static String words(Throwable error) {
        List<String> said = new ArrayList<>();
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            String message = cause.getMessage();
            if (message == null || cause instanceof ClientNotMade) {
                continue;
            }
            for (Map.Entry<String, String> known : IN_WORDS.entrySet()) {
                if (message.contains(known.getKey())) {
                    return known.getValue() + " (" + known.getKey() + ")";
                }
            }
            String text = cause instanceof NoSuchFileException
                    ? "there is no such file"
                    : cause instanceof AccessDeniedException ? "it may not be read" : withoutClass(message);
            if (said.size() < 2 && adds(text, said)) { // what failed, and why: deeper ones speak of inner life
                said.add(text);
            }
        }
        return said.isEmpty() ? error.getClass().getSimpleName() : shortened(String.join(": ", said));
    }

    /** Whether a text adds something: a wrapping exception's message is often that of its cause. */
    private static boolean adds(String text, List<String> said) {
        return said.stream().noneMatch(earlier -> earlier.contains(text))
                && !NO_CLIENT.matcher(text).lookingAt();
    }

    /** {@code words: org.apache.kafka.common.KafkaException: more words} without the class. */
    private static String withoutClass(String message) {
        return message.replaceAll("\\b(?:[a-z0-9]+\\.)+[A-Z]\\w*(?:Exception|Error): ?", "")
                .strip();
    }

    private static String shortened(String text) {
        String line = text.replaceAll("\\s+", " ").strip();
        return (line.length() > LONGEST ? line.substring(0, LONGEST) + "..." : line).replaceFirst("\\.$", "");
    }

    private static <T> T find(Throwable error, Class<T> kind) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (kind.isInstance(cause)) {
                return kind.cast(cause);
            }
        }
        return null;
    }

    /** Kafka made no client of the settings. */
    static final class ClientNotMade extends KafkaException {
        private static final long serialVersionUID = 1;

        ClientNotMade(RuntimeException cause) {
            super(cause);
        }
    }
}
