package com.lsqlrunner.bench.flink;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.flink.formats.avro.SchemaCoder;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/**
 * A schema registry: before a value are a zero byte and the id of its schema.
 *
 * @param url of the registry
 * @param writtenId id of the schema of the results
 */
record Registry(String url, int writtenId) implements SchemaCoder.SchemaCoderProvider {
    @Override
    public SchemaCoder get() {
        return new Coder(url, writtenId);
    }

    /** Requests each schema once. */
    private static final class Coder implements SchemaCoder {
        private final String url;
        private final int writtenId;
        private final Map<Integer, Schema> schemas = new HashMap<>();

        Coder(String url, int writtenId) {
            this.url = url;
            this.writtenId = writtenId;
        }

        @Override
        public Schema readSchema(InputStream in) throws IOException {
            DataInputStream data = new DataInputStream(in);
            if (data.readByte() != 0) {
                throw new IOException("the value has no schema id");
            }
            int id = data.readInt();
            Schema known = schemas.get(id);
            if (known == null) {
                known = request(id);
                schemas.put(id, known);
            }
            return known;
        }

        @Override
        public void writeSchema(Schema schema, OutputStream out) throws IOException {
            out.write(0);
            new DataOutputStream(out).writeInt(writtenId);
        }

        private Schema request(int id) throws IOException {
            HttpRequest request = HttpRequest.newBuilder(URI.create(url + "/schemas/ids/" + id)).build();
            try {
                String answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
                return new Schema.Parser().parse(new ObjectMapper().readTree(answer).get("schema").textValue());
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
                throw new IOException(error);
            }
        }
    }
}
