package com.lsqlrunner.text;

import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.errors.ShownValue;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.StandardCharsets;
import java.nio.charset.UnsupportedCharsetException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Decodes the bytes of a document by its byte order mark, else by its XML declaration, else as UTF-8. The parser could
 * do that, but {@link XmlDecoder} looks for document types in the text before it is parsed.
 */
final class XmlEncoding {
    private static final int MAX_DECLARATION_BYTES = 200;
    private static final Pattern DECLARED =
            Pattern.compile("<\\?xml[^>]*?\\sencoding\\s*=\\s*[\"']([A-Za-z][A-Za-z0-9._-]*)[\"'].*", Pattern.DOTALL);

    private XmlEncoding() {}

    static String decoded(byte[] record) {
        int mark = 0;
        Charset charset = StandardCharsets.UTF_8;
        if (begins(record, 0xEF, 0xBB, 0xBF)) {
            mark = 3;
        } else if (begins(record, 0xFE, 0xFF)) {
            mark = 2;
            charset = StandardCharsets.UTF_16BE;
        } else if (begins(record, 0xFF, 0xFE)) {
            mark = 2;
            charset = StandardCharsets.UTF_16LE;
        } else if (begins(record, '<', '?', 'x', 'm', 'l')) {
            charset = declared(record);
        }
        try {
            return charset.newDecoder()
                    .decode(ByteBuffer.wrap(record, mark, record.length - mark))
                    .toString();
        } catch (CharacterCodingException error) {
            throw new MalformedRecordException("it is not " + charset.name());
        }
    }

    private static boolean begins(byte[] record, int... start) {
        if (record.length < start.length) {
            return false;
        }
        for (int i = 0; i < start.length; i++) {
            if ((record[i] & 0xFF) != start[i]) {
                return false;
            }
        }
        return true;
    }

    private static Charset declared(byte[] record) {
        int length = Math.min(record.length, MAX_DECLARATION_BYTES);
        Matcher name = DECLARED.matcher(new String(record, 0, length, StandardCharsets.ISO_8859_1));
        if (!name.matches()) {
            return StandardCharsets.UTF_8;
        }
        try {
            return Charset.forName(name.group(1));
        } catch (IllegalCharsetNameException | UnsupportedCharsetException error) {
            throw new MalformedRecordException(ShownValue.choose(
                    "its encoding, %s, is unknown".formatted(name.group(1)), "its encoding is unknown"));
        }
    }
}
