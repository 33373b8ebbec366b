package com.lsqlrunner.registry;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A schema registry with given responses, on a free port. */
final class FakeRegistry implements AutoCloseable {
    private static final String NOT_FOUND = "{\"error_code\":40403,\"message\":\"Schema not found\"}";

    /** The bodies by path. Other paths do not exist. */
    final Map<String, String> responses = new ConcurrentHashMap<>();
    /** The requested paths, in order. */
    final List<String> requests = new CopyOnWriteArrayList<>();
    /** The status of all responses, unless it is 200. */
    volatile int status = 200;

    /** The body for a path that does not exist. */
    volatile String notFound = NOT_FOUND;

    /** The required header; null if none is required. */
    volatile String authorization;

    volatile long delayMs;

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    FakeRegistry() throws IOException {
        this(HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0));
    }

    FakeRegistry(HttpServer server) {
        this.server = server;
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            try (exchange) {
                String path = exchange.getRequestURI().toString();
                requests.add(path);
                pause();
                boolean isAuthorized = authorization == null
                        || authorization.equals(exchange.getRequestHeaders().getFirst("Authorization"));
                String response = responses.getOrDefault(path, notFound);
                int code = !isAuthorized ? 401 : status != 200 ? status : responses.containsKey(path) ? 200 : 404;
                byte[] body = response.getBytes();
                exchange.sendResponseHeaders(code, body.length);
                exchange.getResponseBody().write(body);
            }
        });
        server.start();
    }

    private void pause() {
        try {
            Thread.sleep(delayMs);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }

    String url() {
        return "http://127.0.0.1:" + port();
    }

    int port() {
        return server.getAddress().getPort();
    }

    /** The response for a schema. {@code more} is text of further fields, such as {@code ,"references":[]}. */
    static String schema(String text, String more) {
        return "{\"schema\":\"%s\"%s}".formatted(text.replace("\"", "\\\""), more);
    }

    void put(int id, String text) {
        responses.put("/schemas/ids/" + id, schema(text, ""));
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
