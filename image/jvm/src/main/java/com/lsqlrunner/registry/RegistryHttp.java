package com.lsqlrunner.registry;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.lsqlrunner.errors.RegistryException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.HttpsURLConnection;

/** Sends requests to a registry. The addresses are tried in turn until one answers. Threads may share it. */
final class RegistryHttp {
    static final int MAX_BODY_BYTES = 16 << 20;
    /**
     * Some JSON, such as {@code {}}, needs a hundred bytes of heap for a few bytes of text. A response has one schema,
     * as text.
     */
    private static final int MAX_TOKENS = 100_000;

    /** The schema, which is a text in the response and is parsed later, counts too. As in Python (json_budget.py). */
    static final int MAX_VALUES = 500_000;

    private static final ObjectMapper JSON = new ObjectMapper(JsonFactory.builder()
            .streamReadConstraints(
                    StreamReadConstraints.builder().maxTokenCount(MAX_TOKENS).build())
            .build());

    private final RegistrySettings settings;
    /** The index of the address that answered last. */
    private int preferred;

    RegistryHttp(RegistrySettings settings) {
        this.settings = settings;
    }

    /**
     * The response to a GET request; null if the registry reports that the resource does not exist.
     *
     * @throws RegistryException no address answers, or one refuses the request or sends a response that is too large
     */
    JsonNode get(String path) {
        List<String> addresses = settings.addresses();
        int first = preferred;
        String failure = "";
        for (int i = 0; i < addresses.size(); i++) {
            int index = (first + i) % addresses.size();
            String address = addresses.get(index);
            try {
                Response response = send(address + path);
                if (response.status < 500 && response.status != 408 && response.status != 429) {
                    preferred = index; // a race is harmless: the field only saves time
                    return parse(response, address);
                }
                failure = address + " answers " + response.status;
            } catch (IOException error) {
                failure = address + ": " + reason(error);
            }
        }
        throw RegistryException.unreachable(failure);
    }

    private static JsonNode parse(Response response, String address) {
        if (exceedsBudget(response.body)) {
            throw RegistryException.refused(address + " sends JSON with more than " + MAX_VALUES + " values");
        }
        JsonNode body = json(response.body);
        if (response.status == 200 && body.isObject()) {
            return body;
        }
        // Any web server may return 404. The error code shows that a registry returned it.
        if (response.status == 404 && body.path("error_code").asInt() / 100 == 404) {
            return null;
        }
        boolean isOther = response.status == 200;
        throw RegistryException.refused(
                address + (isOther ? " is not a schema registry" : " answers " + response.status));
    }

    private static boolean exceedsBudget(byte[] body) {
        int values = 0;
        for (byte next : body) {
            values += next == ',' || next == '[' || next == '{' ? 1 : 0;
        }
        return values > MAX_VALUES;
    }

    private static JsonNode json(byte[] body) {
        try {
            return JSON.readTree(body);
        } catch (IOException error) {
            return JSON.missingNode();
        }
    }

    private Response send(String url) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(settings.timeoutMs());
        HttpURLConnection connection =
                (HttpURLConnection) URI.create(url).toURL().openConnection();
        try {
            prepare(connection);
            int status = connection.getResponseCode();
            try (InputStream body = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
                return new Response(status, body == null ? new byte[0] : readAll(body, deadline, url));
            }
        } finally {
            connection.disconnect(); // requests are rare
        }
    }

    private void prepare(HttpURLConnection connection) {
        connection.setConnectTimeout(settings.timeoutMs());
        connection.setReadTimeout(settings.timeoutMs());
        connection.setInstanceFollowRedirects(false); // a redirect would send the password to another host
        connection.setUseCaches(false);
        connection.setRequestProperty("Accept", "application/vnd.schemaregistry.v1+json, application/json");
        if (settings.authorization() != null) {
            connection.setRequestProperty("Authorization", settings.authorization());
        }
        if (settings.tls() != null && connection instanceof HttpsURLConnection secure) {
            secure.setSSLSocketFactory(settings.tls());
        }
    }

    /** The whole body. The timeout of the socket applies only to each read. */
    private static byte[] readAll(InputStream from, long deadline, String url) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        byte[] buffer = new byte[8192];
        for (int length = from.read(buffer); length >= 0; length = from.read(buffer)) {
            body.write(buffer, 0, length);
            if (System.nanoTime() > deadline) {
                throw new SocketTimeoutException();
            }
            if (body.size() > MAX_BODY_BYTES) {
                throw RegistryException.responseTooLarge(url, MAX_BODY_BYTES);
            }
        }
        return body.toByteArray();
    }

    private static String reason(IOException error) {
        if (error instanceof SocketTimeoutException) {
            return "no answer in time";
        }
        if (error instanceof UnknownHostException) {
            return "unknown host";
        }
        String failure = error.getMessage();
        return failure == null
                ? "the connection was lost"
                : failure.lines().findFirst().orElse("").replaceAll("(\\w+\\.)+(?=[A-Z])", "");
    }

    /** Escapes a name as one segment of a URL path. */
    static String escaped(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private record Response(int status, byte[] body) {}
}
