package com.lsqlrunner.registry;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLSocketFactory;

/**
 * The connection to a registry.
 *
 * @param addresses base URLs, tried in turn, without a trailing slash
 * @param authorization the value of the Authorization header; null for none
 * @param tls sockets for https; null for the default of the JVM
 * @param timeoutMs the timeout of a request to one address
 */
record RegistrySettings(List<String> addresses, String authorization, SSLSocketFactory tls, int timeoutMs) {
    private static final int TIMEOUT_MS = 10_000;

    /**
     * Parses settings: {@code urls} (separated by commas), {@code username} and {@code password}, {@code ca} (PEM),
     * {@code certificate} and {@code key} (PEM; {@code key_password} if it is encrypted), {@code timeout_ms}.
     *
     * @throws IllegalArgumentException a setting is unknown or invalid
     */
    static RegistrySettings of(Map<String, String> settings) {
        Map<String, String> remaining = new HashMap<>(settings);
        List<String> addresses = addresses(remaining.remove("urls"));
        String username = remaining.remove("username");
        String password = remaining.remove("password");
        String timeout = remaining.remove("timeout_ms");
        SSLSocketFactory tls = RegistryTls.sockets(
                remaining.remove("ca"),
                remaining.remove("certificate"),
                remaining.remove("key"),
                remaining.remove("key_password"));
        if (!remaining.isEmpty()) {
            throw new IllegalArgumentException(
                    "unknown settings of a registry: " + String.join(", ", remaining.keySet()));
        }
        int timeoutMs = timeout == null ? TIMEOUT_MS : Integer.parseInt(timeout);
        return new RegistrySettings(addresses, username == null ? null : basic(username, password), tls, timeoutMs);
    }

    private static List<String> addresses(String urls) {
        List<String> addresses = new ArrayList<>();
        for (String url : urls == null ? new String[0] : urls.split(",")) {
            URI address = uri(url.strip());
            if (!("http".equals(address.getScheme()) || "https".equals(address.getScheme()))
                    || address.getHost() == null) {
                throw new IllegalArgumentException("the address of a registry must begin with http:// or https://");
            }
            if (address.getRawUserInfo() != null) {
                throw new IllegalArgumentException(
                        "the address of a registry must not contain a user; use the setting username");
            }
            addresses.add(address.toString().replaceAll("/+$", ""));
        }
        if (addresses.isEmpty()) {
            throw new IllegalArgumentException("a registry has no address");
        }
        return List.copyOf(addresses);
    }

    private static URI uri(String url) {
        try {
            return new URI(url);
        } catch (URISyntaxException error) { // the message contains the text, which may contain a password
            throw new IllegalArgumentException("the address of a registry is not a URL");
        }
    }

    private static String basic(String username, String password) {
        byte[] credentials = (username + ":" + (password == null ? "" : password)).getBytes(StandardCharsets.UTF_8);
        return "Basic " + Base64.getEncoder().encodeToString(credentials);
    }

    /** Without secrets. */
    @Override
    public String toString() {
        return "RegistrySettings" + addresses;
    }
}
