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
import org.apache.kafka.common.errors.IllegalGenerationException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.StaleMemberEpochException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownMemberIdException;

/**
 * Why a request failed: a condition that Python decides by, and a reason for people without class names.
 *
 * @param reason null if no response arrived
 */
record BrokerError(Condition condition, String reason) {
    private static final Map<String, String> EXPLANATIONS = Map.of(
            "Checksum failed", "the keytab holds another key of the principal than the Kerberos server",
            "Pre-authentication information was invalid",
                    "the keytab holds another key of the principal than the Kerberos server",
            "being asked for a password", "the keytab cannot be read, or holds no key of the principal",
            "Unable to obtain password from user", "the keytab cannot be read, or holds no key of the principal",
            "Server not found in Kerberos database", "the Kerberos server does not know the brokers' principal",
            "Cannot locate KDC", "no Kerberos server is named for the realm");
    private static final Pattern CLIENT_NOT_CREATED =
            Pattern.compile("Failed to (create new|construct) \\w*(Client|consumer)$");
    private static final Pattern MODULE_NOT_FOUND = Pattern.compile("No LoginModule|[Uu]nable to find LoginModule");
    private static final int MAX_LENGTH = 300;

    /** The error as the fields of a line of JSON. */
    Map<String, Object> fields() {
        Map<String, String> parameters = reason == null ? Map.of() : Map.of("reason", reason);
        return Map.of("error", Map.of("condition", condition.name(), "parameters", parameters));
    }

    /** The error for an exception of Kafka's client. */
    static BrokerError of(Throwable error) {
        Throwable thrown =
                error instanceof ExecutionException || error instanceof CompletionException ? error.getCause() : error;
        LoginException login = find(thrown, LoginException.class);
        if (login != null) {
            return ofLogin(login);
        }
        if (thrown instanceof ClientCreationException) {
            return ofSettings(thrown);
        }
        if (thrown instanceof AuthenticationException) {
            return new BrokerError(Condition.LSQL_BROKER_LOGIN_REFUSED, description(thrown));
        }
        if (thrown instanceof AuthorizationException) {
            return new BrokerError(Condition.LSQL_BROKER_RIGHTS_MISSING, description(thrown));
        }
        if (thrown instanceof TopicExistsException) {
            return new BrokerError(Condition.LSQL_TOPIC_EXISTS, description(thrown));
        }
        if (thrown instanceof UnknownMemberIdException
                || thrown instanceof IllegalGenerationException
                || thrown instanceof RebalanceInProgressException
                || thrown instanceof StaleMemberEpochException) {
            return new BrokerError(Condition.LSQL_GROUP_IN_USE, description(thrown));
        }
        if (thrown instanceof TimeoutException || thrown instanceof java.util.concurrent.TimeoutException) {
            return new BrokerError(Condition.LSQL_BROKER_UNREACHABLE, null);
        }
        if (thrown instanceof DisconnectException || thrown instanceof NetworkException) {
            return new BrokerError(Condition.LSQL_BROKER_UNREACHABLE, description(thrown));
        }
        return new BrokerError(Condition.LSQL_BROKER_FAILED, description(thrown));
    }

    private static BrokerError ofLogin(LoginException login) {
        String text = String.valueOf(login.getMessage());
        if (MODULE_NOT_FOUND.matcher(text).find()) {
            return new BrokerError(Condition.LSQL_BROKER_SETTINGS_INVALID, shortened(text));
        }
        if (find(login, IOException.class) != null) {
            return new BrokerError(
                    Condition.LSQL_BROKER_UNREACHABLE, "the login server does not answer: " + shortened(text));
        }
        return new BrokerError(Condition.LSQL_BROKER_LOGIN_REFUSED, "the login fails: " + description(login));
    }

    private static BrokerError ofSettings(Throwable error) {
        ConfigException config = find(error, ConfigException.class);
        boolean isUnresolved =
                config != null && String.valueOf(config.getMessage()).contains("No resolvable bootstrap");
        return isUnresolved
                ? new BrokerError(Condition.LSQL_BROKER_UNREACHABLE, "the host name cannot be resolved")
                : new BrokerError(Condition.LSQL_BROKER_SETTINGS_INVALID, description(error));
    }

    /**
     * The messages of an exception and its causes, outermost first, without duplicates. A known message is replaced by
     * its explanation.
     */
    private static String description(Throwable error) {
        List<String> messages = new ArrayList<>();
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            String message = cause.getMessage();
            if (message == null || cause instanceof ClientCreationException) {
                continue;
            }
            for (Map.Entry<String, String> known : EXPLANATIONS.entrySet()) {
                if (message.contains(known.getKey())) {
                    return known.getValue() + " (" + known.getKey() + ")";
                }
            }
            String text = cause instanceof NoSuchFileException
                    ? "the file does not exist"
                    : cause instanceof AccessDeniedException
                            ? "there is no permission to read it"
                            : withoutClass(message);
            if (messages.size() < 2
                    && adds(text, messages)) { // the first two say what failed and why; deeper causes are internal
                messages.add(text);
            }
        }
        return messages.isEmpty() ? error.getClass().getSimpleName() : shortened(String.join(": ", messages));
    }

    /** Whether a text adds information: the message of a wrapping exception often repeats the message of its cause. */
    private static boolean adds(String text, List<String> messages) {
        return messages.stream().noneMatch(earlier -> earlier.contains(text))
                && !CLIENT_NOT_CREATED.matcher(text).lookingAt();
    }

    /** {@code text: org.apache.kafka.common.KafkaException: more text} without the class name. */
    private static String withoutClass(String message) {
        return message.replaceAll("\\b(?:[a-z0-9]+\\.)+[A-Z]\\w*(?:Exception|Error): ?", "")
                .strip();
    }

    private static String shortened(String text) {
        String line = text.replaceAll("\\s+", " ").strip();
        return (line.length() > MAX_LENGTH ? line.substring(0, MAX_LENGTH) + "..." : line).replaceFirst("\\.$", "");
    }

    private static <T> T find(Throwable error, Class<T> type) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return type.cast(cause);
            }
        }
        return null;
    }

    /** Kafka's client could not be created with the settings. */
    static final class ClientCreationException extends KafkaException {
        private static final long serialVersionUID = 1;

        ClientCreationException(RuntimeException cause) {
            super(cause);
        }
    }
}
