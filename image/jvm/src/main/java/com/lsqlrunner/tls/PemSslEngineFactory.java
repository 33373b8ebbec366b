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
 * Kafka's own TLS, but {@code ssl.keystore.key} may have any form that librdkafka takes: PKCS#8, encrypted as OpenSSL
 * does it by default on any JDK, and what cert-manager writes by default (PKCS#1, SEC 1). Kafka's own takes PKCS#8
 * alone, encrypted with what the JDK knows by name; and no password beside a key that needs none.
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
