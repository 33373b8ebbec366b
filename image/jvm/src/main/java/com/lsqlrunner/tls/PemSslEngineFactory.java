package com.lsqlrunner.tls;

import com.lsqlrunner.PythonEntry;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.security.ssl.DefaultSslEngineFactory;

/**
 * Kafka's TLS, except that {@code ssl.keystore.key} may have every form that librdkafka accepts: PKCS#8, also with
 * OpenSSL's default encryption on any JDK, and the default forms of cert-manager (PKCS#1, SEC 1). Kafka itself accepts
 * only PKCS#8 with an encryption that the JDK supports by name, and no password for a key that is not encrypted.
 */
@PythonEntry
public final class PemSslEngineFactory extends DefaultSslEngineFactory {
    @Override
    public void configure(Map<String, ?> configs) {
        super.configure(
                configs.get(SslConfigs.SSL_KEYSTORE_KEY_CONFIG) instanceof Password key
                        ? withPlainKey(configs, key.value())
                        : configs);
    }

    private static Map<String, Object> withPlainKey(Map<String, ?> configs, String key) {
        Map<String, Object> changed = new HashMap<>(configs);
        Object password = changed.remove(SslConfigs.SSL_KEY_PASSWORD_CONFIG);
        try {
            String plain = PrivateKeys.plain(key, password instanceof Password given ? given.value() : null);
            changed.put(SslConfigs.SSL_KEYSTORE_KEY_CONFIG, new Password(plain));
        } catch (GeneralSecurityException | IOException error) {
            throw new InvalidConfigurationException("The private key cannot be used: " + error.getMessage(), error);
        }
        return changed;
    }
}
