package com.lsqlrunner.registry;

import com.lsqlrunner.tls.PemSslEngineFactory;
import java.util.HashMap;
import java.util.Map;
import javax.net.ssl.SSLSocketFactory;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.config.types.Password;

/** TLS for requests to a registry. PEM texts are parsed as for brokers. */
final class RegistryTls {
    private static final ConfigDef SETTINGS = new ConfigDef().withClientSslSupport();

    private RegistryTls() {}

    /**
     * Sockets that trust only {@code ca} and present {@code certificate}; null if neither is set.
     *
     * @param ca certificates as PEM; null for the certificate authorities of the JVM
     * @param certificate the client certificate and its chain as PEM; null for none
     * @param key its private key as PEM
     * @param password of the private key; null for none
     * @throws IllegalArgumentException one of them is invalid
     */
    static SSLSocketFactory sockets(String ca, String certificate, String key, String password) {
        if (ca == null && certificate == null) {
            return null;
        }
        Map<String, Object> settings = new HashMap<>();
        if (ca != null) {
            settings.put(SslConfigs.SSL_TRUSTSTORE_TYPE_CONFIG, "PEM");
            settings.put(SslConfigs.SSL_TRUSTSTORE_CERTIFICATES_CONFIG, new Password(ca));
        }
        if (certificate != null) {
            settings.put(SslConfigs.SSL_KEYSTORE_TYPE_CONFIG, "PEM");
            settings.put(SslConfigs.SSL_KEYSTORE_CERTIFICATE_CHAIN_CONFIG, new Password(certificate));
            settings.put(SslConfigs.SSL_KEYSTORE_KEY_CONFIG, key == null ? null : new Password(key));
            settings.put(SslConfigs.SSL_KEY_PASSWORD_CONFIG, password == null ? null : new Password(password));
        }
        try (PemSslEngineFactory factory = new PemSslEngineFactory()) {
            factory.configure(SETTINGS.parse(settings));
            return factory.sslContext().getSocketFactory();
        } catch (KafkaException error) {
            throw new IllegalArgumentException("the registry's TLS cannot be set up: " + error.getMessage(), error);
        }
    }
}
