package com.lsqlrunner.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.errors.RegistryException;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.avro.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Schemas by id from a registry, which may be down, slow, or refuse access. */
final class RegistryTest {
    private static final String LONG = "{\"type\":\"long\"}";

    private FakeRegistry fake;

    @BeforeEach
    void start() throws IOException {
        fake = new FakeRegistry();
        fake.put(1, LONG);
    }

    @AfterEach
    void stop() {
        fake.close();
    }

    private static Registry registry(String urls, String... more) {
        Map<String, String> settings = new HashMap<>(Map.of("urls", urls));
        for (int i = 0; i < more.length; i += 2) {
            settings.put(more[i], more[i + 1]);
        }
        Registry.register("test", settings);
        return Registry.named("test");
    }

    private static RegistryException failure(Registry registry) {
        return assertThrows(RegistryException.class, () -> registry.schema(1));
    }

    private static String malformed(Registry registry, int id) {
        return assertThrows(MalformedRecordException.class, () -> registry.schema(id))
                .reason();
    }

    /** An address on which nothing listens. */
    private static String closedAddress() throws IOException {
        FakeRegistry gone = new FakeRegistry();
        gone.close();
        return gone.url();
    }

    @Test
    void aSchemaIsRequestedOnce() {
        Registry registry = registry(fake.url());

        registry.schema(1);

        assertEquals(Schema.Type.LONG, registry.schema(1).getType());
        assertEquals(List.of("/schemas/ids/1"), fake.requests);
    }

    @Test
    void threadsThatNeedTheSameSchemaRequestItOnce() throws Exception {
        Registry registry = registry(fake.url());
        fake.delayMs = 100;
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            Callable<Schema> request = () -> registry.schema(1);
            threads.invokeAll(List.of(request, request, request, request))
                    .forEach(future -> assertTrue(future.isDone()));
        } finally {
            threads.shutdownNow();
        }

        assertEquals(1, fake.requests.size());
    }

    @Test
    void anUnknownIdIsMalformed() {
        Registry registry = registry(fake.url());

        assertEquals("the registry has no schema 9", malformed(registry, 9));
        assertEquals("the registry has no schema 4294967295", malformed(registry, -1));
    }

    @Test
    void aProtobufFileIsRequestedOnce() {
        fake.responses.put("/schemas/ids/2", FakeRegistry.schema("message M {}", ",\"schemaType\":\"PROTOBUF\""));
        fake.put(3, "{}");
        Registry registry = registry(fake.url());

        assertEquals("message M {}", registry.protobuf(2));
        assertEquals("message M {}", registry.protobuf(2));
        assertEquals(List.of("/schemas/ids/2"), fake.requests);
        assertEquals(
                "schema 3 is of the type AVRO, not PROTOBUF",
                assertThrows(MalformedRecordException.class, () -> registry.protobuf(3))
                        .reason());
        assertEquals(
                "the registry has no schema 4",
                assertThrows(MalformedRecordException.class, () -> registry.protobuf(4))
                        .reason());
    }

    @Test
    void aSchemaOfAnotherTypeIsMalformed() {
        fake.responses.put("/schemas/ids/2", FakeRegistry.schema("message M {}", ",\"schemaType\":\"PROTOBUF\""));
        fake.put(3, "nothing");

        assertEquals("schema 2 is of the type PROTOBUF, not AVRO", malformed(registry(fake.url()), 2));
        assertTrue(malformed(registry(fake.url()), 3).startsWith("schema 3 cannot be read: "));
    }

    @Test
    void eachReferencedSchemaIsRequestedOnce() {
        String in = "{\"type\":\"record\",\"name\":\"x.In\",\"fields\":[{\"name\":\"v\",\"type\":\"int\"}]}";
        String mid = "{\"type\":\"record\",\"name\":\"x.Mid\",\"fields\":[{\"name\":\"in\",\"type\":\"x.In\"}]}";
        String out = "{\"type\":\"record\",\"name\":\"x.Out\",\"fields\":["
                + "{\"name\":\"mid\",\"type\":\"x.Mid\"},{\"name\":\"in\",\"type\":\"x.In\"}]}";
        String toIn = "{\"name\":\"x.In\",\"subject\":\"a/b c\",\"version\":2}";
        String toMid = "{\"name\":\"x.Mid\",\"subject\":\"mid\",\"version\":1}";
        fake.responses.put("/subjects/a%2Fb%20c/versions/2", FakeRegistry.schema(in, ""));
        fake.responses.put("/subjects/mid/versions/1", FakeRegistry.schema(mid, ",\"references\":[" + toIn + "]"));
        fake.responses.put("/schemas/ids/2", FakeRegistry.schema(out, ",\"references\":[" + toMid + "," + toIn + "]"));

        Schema schema = registry(fake.url()).schema(2);

        assertEquals(
                List.of("x.Mid", "x.In"),
                schema.getFields().stream().map(f -> f.schema().getFullName()).toList());
        assertEquals(3, fake.requests.size());
    }

    @Test
    void aPathInTheAddressIsKept() {
        fake.responses.put("/apis/ccompat/v7/schemas/ids/1", FakeRegistry.schema(LONG, ""));

        registry(fake.url() + "/apis/ccompat/v7/").schema(1);

        assertEquals(List.of("/apis/ccompat/v7/schemas/ids/1"), fake.requests);
    }

    @Test
    void theNextAddressIsTriedIfOneDoesNotAnswer() throws IOException {
        Registry registry = registry(closedAddress() + " , " + fake.url());

        assertEquals(Schema.Type.LONG, registry.schema(1).getType());
    }

    @Test
    void theNextAddressIsTriedAfterAServerError() throws IOException {
        try (FakeRegistry failing = new FakeRegistry()) {
            failing.status = 503;

            assertEquals(
                    Schema.Type.LONG,
                    registry(failing.url() + "," + fake.url()).schema(1).getType());
        }
    }

    @Test
    void aRegistryThatIsDownIsUnreachable() throws IOException {
        String url = closedAddress();

        RegistryException failure = failure(registry(url));

        assertEquals("LSQL_REGISTRY_UNREACHABLE", failure.getCondition());
        assertEquals(Map.of("reason", url + ": Connection refused"), failure.getMessageParameters());
    }

    @Test
    void aRegistryThatIsSlowIsUnreachable() {
        fake.delayMs = 2_000;

        RegistryException failure = failure(registry(fake.url(), "timeout_ms", "300"));

        assertEquals("LSQL_REGISTRY_UNREACHABLE", failure.getCondition());
        assertEquals(Map.of("reason", fake.url() + ": no answer in time"), failure.getMessageParameters());
    }

    @Test
    void aFailedRequestIsRepeated() {
        Registry registry = registry(fake.url());
        fake.status = 500;
        failure(registry);
        fake.status = 200;

        assertEquals(Schema.Type.LONG, registry.schema(1).getType());
    }

    @ParameterizedTest
    @CsvSource({"500,UNREACHABLE", "503,UNREACHABLE", "429,UNREACHABLE", "401,REFUSED", "403,REFUSED", "302,REFUSED"})
    void anErrorOfTheRegistryIsNotAnErrorOfTheRecord(int status, String condition) {
        fake.status = status;

        assertEquals("LSQL_REGISTRY_" + condition, failure(registry(fake.url())).getCondition());
    }

    @Test
    void a404OfAnotherServerIsNotAnErrorOfTheRecord() {
        fake.notFound = "<html>404</html>";
        fake.responses.clear();

        assertEquals("LSQL_REGISTRY_REFUSED", failure(registry(fake.url())).getCondition());
    }

    @Test
    void aResponseOfAnotherServerIsNotAnErrorOfTheRecord() {
        fake.responses.put("/schemas/ids/1", "<html>sign in</html>");

        assertEquals("LSQL_REGISTRY_REFUSED", failure(registry(fake.url())).getCondition());
    }

    @Test
    void aResponseHasALimitedSize() {
        fake.responses.put("/schemas/ids/1", " ".repeat(RegistryHttp.MAX_BODY_BYTES + 1));

        RegistryException failure = failure(registry(fake.url(), "username", "user", "password", "secret"));

        assertEquals("LSQL_REGISTRY_RESPONSE_TOO_LARGE", failure.getCondition());
        assertEquals(
                Map.of("url", fake.url() + "/schemas/ids/1", "limit_bytes", "16777216"),
                failure.getMessageParameters());
    }

    @Test
    void aSchemaMayHaveAlmostThatSize() {
        String doc = "x".repeat(RegistryHttp.MAX_BODY_BYTES - 200);
        fake.put(1, "{\"type\":\"enum\",\"name\":\"E\",\"doc\":\"" + doc + "\",\"symbols\":[]}");

        assertEquals(Schema.Type.ENUM, registry(fake.url()).schema(1).getType());
    }

    @Test
    void aResponseOfManyValuesIsNotThatOfARegistry() {
        fake.responses.put("/schemas/ids/1", "{\"schema\":\"x\",\"more\":[" + "{},".repeat(100_000) + "{}]}");

        assertEquals("LSQL_REGISTRY_REFUSED", failure(registry(fake.url())).getCondition());
    }

    @Test
    void aSchemaOfManyValuesIsNotParsed() {
        fake.put(1, "{\"type\":\"string\",\"more\":[" + "{},".repeat(RegistryHttp.MAX_VALUES) + "{}]}");

        RegistryException failure = failure(registry(fake.url()));

        assertEquals("LSQL_REGISTRY_REFUSED", failure.getCondition());
        assertEquals(
                Map.of("reason", fake.url() + " sends JSON with more than 500000 values"),
                failure.getMessageParameters());
    }

    @Test
    void userAndPasswordAreSent() {
        fake.authorization = "Basic " + java.util.Base64.getEncoder().encodeToString("user:pä:ss".getBytes());

        assertEquals(
                Schema.Type.LONG,
                registry(fake.url(), "username", "user", "password", "pä:ss")
                        .schema(1)
                        .getType());
        assertTrue(failure(registry(fake.url())).reason().endsWith(" answers 401"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "ftp://x", "http://user:secret@host", "http://user:sec ret%@host", "x"})
    void anInvalidAddressIsRefused(String urls) {
        IllegalArgumentException error = assertThrows(IllegalArgumentException.class, () -> registry(urls));

        assertFalse(error.getMessage().contains("sec"));
    }

    @Test
    void anUnknownSettingIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> registry(fake.url(), "pasword", "x"));
    }

    @Test
    void settingsAreShownWithoutSecrets() {
        RegistrySettings settings =
                RegistrySettings.of(Map.of("urls", fake.url(), "username", "u", "password", "secret"));

        assertEquals("RegistrySettings[" + fake.url() + "]", settings.toString());
    }
}
