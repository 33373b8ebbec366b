package com.lsqlrunner.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lsqlrunner.errors.MalformedRecordException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** SchemaSource by their ids where there is no registry to ask: they are given. */
final class GivenSchemasTest {
    private static final String NEW = "{\"type\":\"record\",\"name\":\"R\",\"fields\":["
            + "{\"name\":\"a\",\"type\":\"int\"},{\"name\":\"b\",\"type\":\"string\",\"default\":\"?\"}]}";
    private static final String OLD =
            "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"}]}";

    private static Registry given(Map<Integer, String> schemas) {
        Registry.give("given", schemas);
        return Registry.named("given");
    }

    private static String malformed(Registry registry, int id) {
        return assertThrows(MalformedRecordException.class, () -> registry.schema(id))
                .reason();
    }

    @Test
    void anIdThatIsNotGivenIsMalformed() {
        assertEquals("the registry knows no schema 9", malformed(given(Map.of(1, OLD)), 9));
        assertEquals("the registry knows no schema 4294967295", malformed(given(Map.of(1, OLD)), -1));
    }

    @Test
    void aTextThatIsNoSchemaIsMalformed() {
        assertTrue(malformed(given(Map.of(1, "nothing")), 1).startsWith("schema 1 cannot be read: "));
    }

    @Test
    void thoseThatAreGivenLaterTakeThePlaceOfTheEarlier() {
        Registry earlier = given(Map.of(1, OLD));

        Registry later = given(Map.of(2, NEW));

        assertEquals(1, earlier.schema(1).getFields().size());
        assertEquals("the registry knows no schema 1", malformed(later, 1));
        assertEquals(2, later.schema(2).getFields().size());
    }
}
