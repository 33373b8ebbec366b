package com.lsqlrunner.text;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.errors.MalformedRecordException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Random;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;

class DecodeTextTest {
    private final DecodeText text = new DecodeText(new Literal(null, DataTypes.BinaryType));

    /** Most random bytes are malformed: truncated, overlong, surrogates, above U+10FFFF. */
    @Test
    void bytesAreTextIfTheStrictDecoderOfJavaDecodesThem() {
        Random random = new Random(1);
        for (int n = 0; n < 200_000; n++) {
            byte[] bytes = new byte[1 + random.nextInt(4)];
            random.nextBytes(bytes);
            bytes[0] |= (byte) random.nextInt(256);
            for (int i = 1; i < bytes.length; i++) {
                bytes[i] = random.nextInt(8) == 0 ? bytes[i] : (byte) (0x80 | bytes[i] & 0x3f);
            }
            check(bytes);
        }
    }

    private void check(byte[] bytes) {
        String expected;
        try {
            expected = UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException malformed) {
            assertThrows(MalformedRecordException.class, () -> text.call(bytes));
            return;
        }
        assertEquals(expected, text.call(bytes).toString());
    }
}
