package com.lsqlrunner.registry;

import com.lsqlrunner.tls.PemSslEngineFactory;
import java.util.HashMap;
import java.util.Map;
import javax.net.ssl.SSLSocketFactory;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.config.types.Password;

/** TLS for questions to a registry, by the same reading of PEM texts as for the brokers. */
final class RegistryTls {
    private static final ConfigDef SETTINGS = new ConfigDef().withClientSslSupport();

    private RegistryTls() {}

    /**
     * Sockets that trust {@code ca} alone and show {@code certificate}; null where neither is given.
     *
     * @param ca PEM of certificates; null for the JVM's own authorities
     * @param certificate PEM of our own certificate and those that lead to an authority; null for none
     * @param key PEM of its key
     * @param password of the key; null for none
     * @throws IllegalArgumentException one of them cannot be used
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
