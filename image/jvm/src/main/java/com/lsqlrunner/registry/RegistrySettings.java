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
 * How a registry is reached.
 *
 * @param addresses base URLs, tried in turn, without a slash at the end
 * @param authorization a header's value; null for none
 * @param tls sockets for https; null for the JVM's own
 * @param timeoutMs how long one address may take for one answer
 */
record RegistrySettings(List<String> addresses, String authorization, SSLSocketFactory tls, int timeoutMs) {
    private static final int TIMEOUT_MS = 10_000;

    /**
     * Settings by name: {@code urls} (separated by commas), {@code username} and {@code password}, {@code ca} (PEM),
     * {@code certificate} and {@code key} (PEM; {@code key_password} if it is encrypted), {@code timeout_ms}.
     *
     * @throws IllegalArgumentException a setting is not known, or cannot be used
     */
    static RegistrySettings of(Map<String, String> given) {
        Map<String, String> left = new HashMap<>(given);
        List<String> addresses = addresses(left.remove("urls"));
        String user = left.remove("username");
        String password = left.remove("password");
        String timeout = left.remove("timeout_ms");
        SSLSocketFactory tls = RegistryTls.sockets(
                left.remove("ca"), left.remove("certificate"), left.remove("key"), left.remove("key_password"));
        if (!left.isEmpty()) {
            throw new IllegalArgumentException("no such setting of a registry: " + String.join(", ", left.keySet()));
        }
        int timeoutMs = timeout == null ? TIMEOUT_MS : Integer.parseInt(timeout);
        return new RegistrySettings(addresses, user == null ? null : basic(user, password), tls, timeoutMs);
    }

    private static List<String> addresses(String urls) {
        List<String> addresses = new ArrayList<>();
        for (String url : urls == null ? new String[0] : urls.split(",")) {
            URI address = uri(url.strip());
            if (!("http".equals(address.getScheme()) || "https".equals(address.getScheme()))
                    || address.getHost() == null) {
                throw new IllegalArgumentException("the address of a registry begins with http:// or https://");
            }
            if (address.getRawUserInfo() != null) {
                throw new IllegalArgumentException(
                        "the address of a registry holds no user: that is a setting of its own");
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
        } catch (URISyntaxException error) { // says the text, in which somebody may have put a password
            throw new IllegalArgumentException("the address of a registry is no URL");
        }
    }

    private static String basic(String user, String password) {
        byte[] both = (user + ":" + (password == null ? "" : password)).getBytes(StandardCharsets.UTF_8);
        return "Basic " + Base64.getEncoder().encodeToString(both);
    }

    /** Without secrets. */
    @Override
    public String toString() {
        return "RegistrySettings" + addresses;
    }
}
