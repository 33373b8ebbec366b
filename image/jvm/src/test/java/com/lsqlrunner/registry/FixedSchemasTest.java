package com.lsqlrunner.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lsqlrunner.errors.MalformedRecordException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Schemas by id, without a registry. */
final class FixedSchemasTest {
    private static final String NEW = "{\"type\":\"record\",\"name\":\"R\",\"fields\":["
            + "{\"name\":\"a\",\"type\":\"int\"},{\"name\":\"b\",\"type\":\"string\",\"default\":\"?\"}]}";
    private static final String OLD =
            "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"}]}";

    private static Registry registry(Map<Integer, String> schemas) {
        Registry.registerSchemas("given", schemas);
        return Registry.named("given");
    }

    private static String malformed(Registry registry, int id) {
        return assertThrows(MalformedRecordException.class, () -> registry.schema(id))
                .reason();
    }

    @Test
    void anUnknownIdIsMalformed() {
        assertEquals("the registry has no schema 9", malformed(registry(Map.of(1, OLD)), 9));
        assertEquals("the registry has no schema 4294967295", malformed(registry(Map.of(1, OLD)), -1));
    }

    @Test
    void aTextThatIsNotASchemaIsMalformed() {
        assertTrue(malformed(registry(Map.of(1, "nothing")), 1).startsWith("schema 1 cannot be read: "));
    }

    @Test
    void laterSchemasReplaceTheEarlierOnes() {
        Registry earlier = registry(Map.of(1, OLD));

        Registry later = registry(Map.of(2, NEW));

        assertEquals(1, earlier.schema(1).getFields().size());
        assertEquals("the registry has no schema 1", malformed(later, 1));
        assertEquals(2, later.schema(2).getFields().size());
    }
}
