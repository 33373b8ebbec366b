package com.lsqlrunner.registry;

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

/** Questions to a registry, put to one address after the other until one answers. Threads may share it. */
final class RegistryHttp {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int LARGEST = 64 << 20;

    private final RegistrySettings settings;
    private int preferred;

    RegistryHttp(RegistrySettings settings) {
        this.settings = settings;
    }

    /**
     * The answer to GET; null if the registry says that it has no such thing.
     *
     * @throws RegistryException no address answers, or one refuses
     */
    JsonNode get(String path) {
        List<String> addresses = settings.addresses();
        int first = preferred;
        String said = "";
        for (int i = 0; i < addresses.size(); i++) {
            int place = (first + i) % addresses.size();
            String address = addresses.get(place);
            try {
                Answer answer = ask(address + path);
                if (answer.status < 500 && answer.status != 408 && answer.status != 429) {
                    preferred = place; // racy, and harmless: it only saves time
                    return understood(answer, address);
                }
                said = address + " answers " + answer.status;
            } catch (IOException error) {
                said = address + ": " + reason(error);
            }
        }
        throw RegistryException.unreachable(said);
    }

    private static JsonNode understood(Answer answer, String address) {
        JsonNode body = json(answer.body);
        if (answer.status == 200 && body.isObject()) {
            return body;
        }
        // 404 alone may be any web server's; the registry says what it is that there is not.
        if (answer.status == 404 && body.path("error_code").asInt() / 100 == 404) {
            return null;
        }
        String what = answer.status == 200 ? "what no schema registry answers" : String.valueOf(answer.status);
        throw RegistryException.refused(address + " answers " + what);
    }

    private static JsonNode json(byte[] body) {
        try {
            return JSON.readTree(body);
        } catch (IOException error) {
            return JSON.missingNode();
        }
    }

    private Answer ask(String url) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(settings.timeoutMs());
        HttpURLConnection connection =
                (HttpURLConnection) URI.create(url).toURL().openConnection();
        try {
            prepare(connection);
            int status = connection.getResponseCode();
            try (InputStream body = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
                return new Answer(status, body == null ? new byte[0] : all(body, deadline));
            }
        } finally {
            connection.disconnect(); // questions are years apart
        }
    }

    private void prepare(HttpURLConnection connection) {
        connection.setConnectTimeout(settings.timeoutMs());
        connection.setReadTimeout(settings.timeoutMs());
        connection.setInstanceFollowRedirects(false); // it would carry the password elsewhere
        connection.setUseCaches(false);
        connection.setRequestProperty("Accept", "application/vnd.schemaregistry.v1+json, application/json");
        if (settings.authorization() != null) {
            connection.setRequestProperty("Authorization", settings.authorization());
        }
        if (settings.tls() != null && connection instanceof HttpsURLConnection secure) {
            secure.setSSLSocketFactory(settings.tls());
        }
    }

    /** The whole body; a timeout of the socket is for each piece of it. */
    private static byte[] all(InputStream from, long deadline) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        byte[] piece = new byte[8192];
        for (int length = from.read(piece); length >= 0; length = from.read(piece)) {
            body.write(piece, 0, length);
            if (System.nanoTime() > deadline) {
                throw new SocketTimeoutException();
            }
            if (body.size() > LARGEST) {
                throw new IOException("the answer is too large");
            }
        }
        return body.toByteArray();
    }

    private static String reason(IOException error) {
        if (error instanceof SocketTimeoutException) {
            return "no answer in time";
        }
        if (error instanceof UnknownHostException) {
            return "no such host";
        }
        String said = error.getMessage();
        return said == null
                ? "the connection broke"
                : said.lines().findFirst().orElse("").replaceAll("(\\w+\\.)+(?=[A-Z])", "");
    }

    /** A piece of a path, with nothing in it that means something in a path. */
    static String escaped(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private record Answer(int status, byte[] body) {}
}
