package com.lsqlrunner.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import com.lsqlrunner.expression.ValueText;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Documents that would make a parser read files, send requests, or expand entities. */
final class XmlSecurityTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "<!DOCTYPE o [<!ENTITY e 'x'>]><o><who>&e;</who></o>",
                "<!DOCTYPE o><o/>",
                " \n<!DOCTYPE o><o/>",
                "<?xml version='1.0'?><!-- c --> <?p x?>\t<!----><!DOCTYPE o><o/>"
            })
    void aDocumentTypeIsRefused(String text) {
        assertEquals("it has a document type, which is not read", XmlTest.reason(text));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "<!--><!DOCTYPE o>--><o><who>y</who></o>",
                "<!-- <!DOCTYPE o> --><?p <!DOCTYPE o>?><o><who>y</who><x><![CDATA[<!DOCTYPE o>]]></x></o>"
            })
    void textLikeADocumentTypeIsAllowedInComments(String text) {
        assertEquals("(null y null null null)", ValueText.of(XmlTest.decoded(text)));
    }

    @Test
    void anEntityCannotReadAFile(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("secret"), "hunter2");

        String reason =
                XmlTest.reason("<!DOCTYPE o [<!ENTITY e SYSTEM '%s'>]><o><who>&e;</who></o>".formatted(file.toUri()));

        assertEquals("it has a document type, which is not read", reason);
    }

    @Test
    void noUrlIsFetched() throws IOException {
        List<String> requested = new CopyOnWriteArrayList<>();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            requested.add(exchange.getRequestURI().toString());
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.start();
        try {
            String url = "http://127.0.0.1:" + server.getAddress().getPort();
            for (String text : List.of(
                    "<!DOCTYPE o SYSTEM '%s/o.dtd'><o/>",
                    "<!DOCTYPE o PUBLIC 'p' '%s/o.dtd'><o/>",
                    "<!DOCTYPE o [<!ENTITY %% p SYSTEM '%s/p'>%%p;]><o/>",
                    "<!DOCTYPE o [<!ENTITY e SYSTEM '%s/e'>]><o id='&e;'/>")) {
                XmlTest.reason(text.formatted(url));
            }
            // These are read, but their references are not followed.
            XmlTest.decoded("<o xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:schemaLocation='u %s/o.xsd'/>"
                    .formatted(url));
            XmlTest.decoded(
                    "<?xml-stylesheet href='%s/o.xsl'?><o><x:include xmlns:x='http://www.w3.org/2001/XInclude' href='%s/x'/></o>"
                            .formatted(url, url));
        } finally {
            server.stop(0);
        }
        assertEquals(List.of(), requested);
    }

    @Test
    void nestedEntitiesAreNotExpanded() {
        StringBuilder text = new StringBuilder("<!DOCTYPE o [<!ENTITY e0 'xxxxxxxxxx'>");
        for (int i = 1; i < 30; i++) {
            text.append("<!ENTITY e%d '%s'>".formatted(i, ("&e" + (i - 1) + ";").repeat(10)));
        }
        text.append("]><o><who>&e29;</who></o>");

        assertTimeout(Duration.ofSeconds(5), () -> XmlTest.reason(text.toString()));
    }
}
