package com.lsqlrunner.errors;

import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.file.AccessDeniedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.UnsupportedFileSystemException;
import org.apache.hadoop.security.AccessControlException;

/** Why a store of files did not carry out a request. */
public final class StoreException extends LsqlException {
    private static final long serialVersionUID = 1L;
    private static final int MAX_LENGTH = 200;

    /** Exceptions of connectors, which are not on the class path of this module. */
    private static final Set<String> UNREACHABLE =
            Set.of("ConnectTimeoutException", "ConnectionPoolTimeoutException", "ApiCallAttemptTimeoutException");

    private static final Set<String> REFUSED =
            Set.of("UnknownStoreException", "NoAwsCredentialsException", "NoAuthWithAWSException");

    private static final String CONNECTOR = "org.apache.hadoop.fs.s3a.";

    /** Identifiers that the client of S3 adds to a sentence. */
    private static final Pattern ADDED = Pattern.compile("\\s*\\((?:Service|SDK Attempt)[^)]*\\)?");

    /** The stack trace of a server, in a message. */
    private static final Pattern STACK = Pattern.compile("\\R\\s*at ");

    private static final Pattern CLASS = Pattern.compile("\\b(?:[a-z][a-z0-9]*\\.)+([A-Z]\\w+)");

    private StoreException(Condition condition, String reason) {
        super(condition, Map.of("reason", reason));
    }

    private static StoreException of(List<Throwable> chain) {
        return new StoreException(condition(chain), reason(chain.get(chain.size() - 1)));
    }

    /** The failure of a store that caused an exception; null if something else has failed. */
    static StoreException causing(Throwable error) {
        List<Throwable> chain = chain(error);
        for (Throwable each : chain) {
            if (each instanceof StoreException failure) {
                return failure;
            }
        }
        // If the entry of a log exists, another process has written it: the store works.
        boolean isRefused = chain.stream().anyMatch(FileAlreadyExistsException.class::isInstance);
        return !isRefused && chain.stream().anyMatch(StoreException::isOfConnector) ? of(chain) : null;
    }

    /** A connector translates its exceptions to Java's own, whose class does not show their origin. */
    private static boolean isOfConnector(Throwable error) {
        return Stream.of(error.getStackTrace())
                .anyMatch(frame -> frame.getClassName().startsWith(CONNECTOR));
    }

    private static List<Throwable> chain(Throwable error) {
        List<Throwable> chain = new ArrayList<>();
        for (Throwable each = error; each != null && !chain.contains(each); each = each.getCause()) {
            chain.add(each);
        }
        return chain;
    }

    private static Condition condition(List<Throwable> chain) {
        Condition condition = Condition.LSQL_STORE_FAILED;
        for (Throwable each : chain) {
            String name = each.getClass().getSimpleName();
            if (each instanceof UnsupportedFileSystemException
                    || each instanceof ClassNotFoundException
                    || each instanceof LinkageError) {
                return Condition.LSQL_STORE_WITHOUT_CONNECTOR;
            } else if (each instanceof AccessDeniedException
                    || each instanceof AccessControlException
                    || REFUSED.contains(name)) {
                return Condition.LSQL_STORE_REFUSED;
            } else if (each instanceof ConnectException
                    || each instanceof UnknownHostException
                    || each instanceof NoRouteToHostException
                    || each instanceof SocketTimeoutException
                    || UNREACHABLE.contains(name)) {
                condition = Condition.LSQL_STORE_UNREACHABLE;
            }
        }
        return condition;
    }

    /** One line. Only a missing class has a qualified name. */
    private static String reason(Throwable error) {
        String text = error.getMessage();
        if (text == null || text.isBlank()) {
            text = error.getClass().getSimpleName();
        } else if (error instanceof UnknownHostException) {
            text = "unknown host " + text;
        }
        text = STACK.split(text, 2)[0];
        text = ADDED.matcher(text.replaceAll("\\s+", " ").strip()).replaceAll("");
        boolean isMissing = error instanceof ClassNotFoundException || error instanceof LinkageError;
        String line = isMissing ? text : CLASS.matcher(text).replaceAll("$1");
        return line.length() > MAX_LENGTH ? line.substring(0, MAX_LENGTH) + "..." : line;
    }

    /** An action on a store. */
    @FunctionalInterface
    public interface Action<T> {
        T run() throws Exception; // Scala does not declare its exceptions
    }

    /** The result of an action; its failure as an error of the store. */
    public static <T> T orThrow(Action<T> action) {
        try {
            return action.run();
        } catch (StoreException failed) {
            throw failed;
        } catch (Exception | LinkageError failed) { // a class of the connector may be missing
            throw of(chain(failed));
        }
    }
}
