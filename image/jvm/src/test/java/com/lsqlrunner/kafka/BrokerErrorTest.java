package com.lsqlrunner.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.lsqlrunner.errors.Condition;
import java.net.ConnectException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.ExecutionException;
import javax.security.auth.login.LoginException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.SslAuthenticationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.junit.jupiter.api.Test;

class BrokerErrorTest {
    private static BrokerError creationFailed(Throwable cause) {
        KafkaException kafka = new KafkaException("Failed to create new KafkaAdminClient", cause);
        return BrokerError.of(new BrokerError.ClientCreationException(kafka));
    }

    private static LoginException login(String message, Throwable cause) {
        LoginException error = new LoginException(message);
        error.initCause(cause);
        return error;
    }

    @Test
    void eachExceptionHasItsCondition() {
        assertEquals(
                Condition.LSQL_BROKER_UNREACHABLE,
                BrokerError.of(new TimeoutException("Call(...) timed out")).condition());
        assertEquals(
                Condition.LSQL_BROKER_LOGIN_REFUSED,
                BrokerError.of(new SaslAuthenticationException("no")).condition());
        assertEquals(
                Condition.LSQL_BROKER_RIGHTS_MISSING,
                BrokerError.of(GroupAuthorizationException.forGroupId("g")).condition());
        assertEquals(
                Condition.LSQL_TOPIC_EXISTS,
                BrokerError.of(new TopicExistsException("t")).condition());
        assertEquals(
                Condition.LSQL_GROUP_IN_USE,
                BrokerError.of(new UnknownMemberIdException()).condition());
        assertEquals(
                Condition.LSQL_GROUP_IN_USE,
                BrokerError.of(new RebalanceInProgressException()).condition());
        assertEquals(
                Condition.LSQL_BROKER_FAILED,
                BrokerError.of(new IllegalStateException("x")).condition());
        assertEquals(
                Condition.LSQL_BROKER_RIGHTS_MISSING,
                BrokerError.of(new ExecutionException(GroupAuthorizationException.forGroupId("g")))
                        .condition());
    }

    @Test
    void anUnresolvedHostNameIsNotAnErrorOfTheSettings() {
        assertEquals(
                Condition.LSQL_BROKER_UNREACHABLE,
                creationFailed(new ConfigException("No resolvable bootstrap urls given in x"))
                        .condition());
        assertEquals(
                Condition.LSQL_BROKER_SETTINGS_INVALID,
                creationFailed(new ConfigException("Invalid url in bootstrap.servers: x"))
                        .condition());
    }

    @Test
    void anUnreachableLoginServerIsNotARefusedLogin() {
        assertEquals(
                Condition.LSQL_BROKER_UNREACHABLE,
                creationFailed(login("Connection refused", new ConnectException("Connection refused")))
                        .condition());
        assertEquals(
                Condition.LSQL_BROKER_LOGIN_REFUSED,
                creationFailed(login("Checksum failed", null)).condition());
        assertEquals(
                Condition.LSQL_BROKER_SETTINGS_INVALID,
                creationFailed(login("No LoginModule found for com.example.Login", null))
                        .condition());
    }

    @Test
    void aReasonSaysWhatFailedAndWhyWithoutClassNames() {
        Exception handshake = new javax.net.ssl.SSLHandshakeException(
                "PKIX path building failed: sun.security.provider.certpath.SunCertPathBuilderException: unable to find it");
        assertEquals(
                "SSL handshake failed: PKIX path building failed: unable to find it",
                BrokerError.of(new SslAuthenticationException("SSL handshake failed", handshake))
                        .reason());
        Exception store =
                new KafkaException("Failed to load SSL keystore /a of type JKS", new NoSuchFileException("/a"));
        assertEquals(
                "Failed to load SSL keystore /a of type JKS: the file does not exist",
                creationFailed(new KafkaException(store)).reason());
    }

    @Test
    void aKnownMessageOfKerberosIsExplained() {
        assertEquals(
                "the login fails: the keytab holds another key of the principal than the Kerberos server"
                        + " (Checksum failed)",
                creationFailed(login("Checksum failed", null)).reason());
    }
}
