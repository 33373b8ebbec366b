package com.lsqlrunner.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.ConnectException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.ExecutionException;
import javax.security.auth.login.LoginException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.SslAuthenticationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.junit.jupiter.api.Test;

class RefusalTest {
    private static Refusal notMade(Throwable cause) {
        KafkaException kafka = new KafkaException("Failed to create new KafkaAdminClient", cause);
        return Refusal.of(new Refusal.ClientNotMade(kafka));
    }

    private static LoginException login(String message, Throwable cause) {
        LoginException error = new LoginException(message);
        error.initCause(cause);
        return error;
    }

    @Test
    void eachKindOfErrorHasItsOwn() {
        assertEquals("silence", Refusal.of(new TimeoutException("Call(...) timed out")).kind());
        assertEquals("identity", Refusal.of(new SaslAuthenticationException("no")).kind());
        assertEquals("rights", Refusal.of(GroupAuthorizationException.forGroupId("g")).kind());
        assertEquals("exists", Refusal.of(new TopicExistsException("t")).kind());
        assertEquals("other", Refusal.of(new IllegalStateException("x")).kind());
        assertEquals("rights", Refusal.of(new ExecutionException(GroupAuthorizationException.forGroupId("g"))).kind());
    }

    @Test
    void aNameThatCannotBeResolvedIsNoMistakeOfTheSettings() {
        assertEquals("silence", notMade(new ConfigException("No resolvable bootstrap urls given in x")).kind());
        assertEquals("settings", notMade(new ConfigException("Invalid url in bootstrap.servers: x")).kind());
    }

    @Test
    void aLoginServerThatIsAwayIsNoWrongKey() {
        assertEquals("silence", notMade(login("Connection refused", new ConnectException("Connection refused"))).kind());
        assertEquals("identity", notMade(login("Checksum failed", null)).kind());
        assertEquals("settings", notMade(login("No LoginModule found for com.example.Login", null)).kind());
    }

    @Test
    void wordsHoldWhatFailedAndWhyButNoClasses() {
        Exception handshake = new javax.net.ssl.SSLHandshakeException(
                "PKIX path building failed: sun.security.provider.certpath.SunCertPathBuilderException: unable to find it");
        assertEquals(
                "SSL handshake failed: PKIX path building failed: unable to find it",
                Refusal.of(new SslAuthenticationException("SSL handshake failed", handshake)).why());
        Exception store = new KafkaException("Failed to load SSL keystore /a of type JKS", new NoSuchFileException("/a"));
        assertEquals(
                "Failed to load SSL keystore /a of type JKS: there is no such file",
                notMade(new KafkaException(store)).why());
    }

    @Test
    void knownWordsOfKerberosAreToldPlainly() {
        assertEquals(
                "the login fails: the keytab holds another key of the principal than the Kerberos server"
                        + " (Checksum failed)",
                notMade(login("Checksum failed", null)).why());
    }
}
