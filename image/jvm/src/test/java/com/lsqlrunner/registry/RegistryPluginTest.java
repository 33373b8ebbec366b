package com.lsqlrunner.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.plugin.DriverPlugin;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The driver and an executor share the registries of this JVM: the executor asks for one with another name. */
final class RegistryPluginTest {
    private final DriverPlugin driver = new RegistryPlugin().driverPlugin();
    private final List<String> asked = new ArrayList<>();

    @BeforeEach
    void connect() {
        Registry.askFor(name -> {
            asked.add(name);
            return (Registry.Definition) received(driver.receive(name.replace(" on the executor", "")));
        });
    }

    @AfterEach
    void disconnect() {
        Registry.askFor(null);
    }

    /** What arrives of an object that is sent. */
    private static Object received(Object sent) throws IOException, ClassNotFoundException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(sent);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            return in.readObject();
        }
    }

    @Test
    void anExecutorAsksOnceForARegistryWithItsCredentials() throws IOException {
        try (FakeRegistry fake = new FakeRegistry()) {
            fake.put(1, "{\"type\":\"long\"}");
            Registry.register("remote", Map.of("urls", fake.url(), "username", "u", "password", "p"));

            Registry ofExecutor = Registry.named("remote on the executor");

            assertEquals("\"long\"", ofExecutor.schema(1).toString());
            assertSame(ofExecutor, Registry.named("remote on the executor"));
            assertEquals(List.of("remote on the executor"), asked);
        }
    }

    @Test
    void anExecutorGetsFixedSchemas() {
        Registry.registerSchemas("fixed", Map.of(7, "{\"type\":\"int\"}"));
        assertEquals(
                "\"int\"", Registry.named("fixed on the executor").schema(7).toString());
    }

    @Test
    void aRegistryThatTheDriverDoesNotKnowIsAnError() {
        assertThrows(IllegalStateException.class, () -> Registry.named("unknown on the executor"));
    }

    @Test
    void theTextOfADefinitionHasNoCredentials() {
        Registry.register("secret", Map.of("urls", "http://127.0.0.1:1", "username", "u", "password", "hidden"));
        assertFalse(Registry.named("secret").definition().toString().contains("hidden"));
    }
}
