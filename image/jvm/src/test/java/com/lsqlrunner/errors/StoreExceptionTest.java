package com.lsqlrunner.errors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.file.AccessDeniedException;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.UnsupportedFileSystemException;
import org.apache.hadoop.security.AccessControlException;
import org.junit.jupiter.api.Test;

class StoreExceptionTest {
    private static String[] of(Exception failure) {
        StoreException error = assertThrows(
                StoreException.class,
                () -> StoreException.orThrow(() -> {
                    throw failure;
                }));
        return new String[] {error.getCondition(), error.reason()};
    }

    private static void assertFound(String condition, String reason, Exception failure) {
        String[] fields = of(failure);
        assertEquals(condition, fields[0]);
        assertEquals(reason, fields[1]);
    }

    @Test
    void aStoreThatDoesNotAnswerIsUnreachable() {
        assertFound(
                "LSQL_STORE_UNREACHABLE",
                "Connection refused",
                new IOException("Writing Object", new ConnectException("Connection refused")));
        assertFound("LSQL_STORE_UNREACHABLE", "unknown host store", new UnknownHostException("store"));
    }

    @Test
    void whatTheClientOfS3AddsToASentenceIsLeftOut() {
        Exception cause = new IllegalStateException(
                "software.amazon.awssdk.services.s3.model.S3Exception: Access\nDenied (Service: S3, Status Code: 403, "
                        + "Request ID: X) (SDK Attempt Count: 1)");
        AccessDeniedException denied = new AccessDeniedException("key");
        denied.initCause(cause);

        assertFound("LSQL_STORE_REFUSED", "S3Exception: Access Denied", denied);
    }

    @Test
    void theStackTraceOfAServerIsLeftOut() {
        assertFound(
                "LSQL_STORE_REFUSED",
                "Permission denied: user=lsql, access=WRITE",
                new AccessControlException("Permission denied: user=lsql, access=WRITE\n"
                        + "\tat org.example.Server.check(Server.java:663)"));
    }

    @Test
    void aMissingClassIsNamed() {
        Exception missing = new IOException(new ClassNotFoundException("org.apache.hadoop.fs.s3a.S3AFileSystem"));

        assertFound("LSQL_STORE_WITHOUT_CONNECTOR", "org.apache.hadoop.fs.s3a.S3AFileSystem", missing);
        assertFound(
                "LSQL_STORE_WITHOUT_CONNECTOR",
                "No FileSystem for scheme \"gs\"",
                new UnsupportedFileSystemException("No FileSystem for scheme \"gs\""));
    }

    @Test
    void anErrorWithoutAMessageHasTheNameOfItsClass() {
        assertFound("LSQL_STORE_FAILED", "IOException", new IOException());
    }

    private static Exception ofConnector(Exception failure) {
        failure.setStackTrace(new StackTraceElement[] {
            new StackTraceElement("org.apache.hadoop.fs.s3a.S3AFileSystem", "open", "S3AFileSystem.java", 1)
        });
        return failure;
    }

    @Test
    void theFailureOfAQueryThatItsStoreCausedIsFound() {
        Exception refused = ofConnector(new ConnectException("Connection refused"));

        StoreException failure = StoreException.causing(new IllegalStateException("Job aborted", refused));

        assertEquals("LSQL_STORE_UNREACHABLE", failure.getCondition());
        assertEquals("Connection refused", failure.reason());
        assertSame(failure, StoreException.causing(new IllegalStateException(failure)));
    }

    @Test
    void otherFailuresOfAQueryAreNotThoseOfTheStore() {
        assertNull(StoreException.causing(new IllegalStateException(new ConnectException("Connection refused"))));
        assertNull(StoreException.causing(ofConnector(new FileAlreadyExistsException("offsets/7"))));
    }
}
