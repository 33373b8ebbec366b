package com.lsqlrunner.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.fasterxml.jackson.core.util.JsonParserDelegate;
import java.io.IOException;
import org.apache.spark.sql.types.StructType;

/**
 * The tokens of a record that Spark's parser does not read, to find the first value at which it fails.
 *
 * <p>Spark's parser calls {@link #skipChildren} at a field that the type does not have, and at a value that it cannot
 * convert; after that value it reads on.
 */
final class FailingJsonTokens extends JsonParserDelegate {
    private final StructType type;
    private String failing;

    FailingJsonTokens(JsonParser tokens, StructType type) {
        super(tokens);
        this.type = type;
    }

    /** The path of the first value that cannot be converted; of the last value if all could be up to the end. */
    String path() {
        return failing == null ? JsonFieldPath.of(delegate.getParsingContext(), type) : failing;
    }

    @Override
    public JsonParser skipChildren() throws IOException {
        JsonStreamContext context = delegate.getParsingContext();
        if (failing == null && JsonFieldPath.isComplete(context, type)) {
            failing = JsonFieldPath.of(context, type);
        }
        delegate.skipChildren();
        return this;
    }
}
