package com.lsqlrunner.tls;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Cipher;
import javax.crypto.EncryptedPrivateKeyInfo;
import javax.crypto.SecretKey;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/** Private keys as PEM, in the forms that OpenSSL reads. */
public final class PrivateKeys {
    private static final Pattern PEM =
            Pattern.compile("-----BEGIN (RSA |EC |ENCRYPTED )?PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END");
    private static final int SEQUENCE = 0x30;
    private static final int OCTET_STRING = 0x04;
    private static final int PARAMETERS = 0xA0;
    private static final byte[] VERSION = HexFormat.of().parseHex("020100");
    private static final byte[] RSA = HexFormat.of().parseHex("06092a864886f70d0101010500");
    private static final byte[] EC = HexFormat.of().parseHex("06072a8648ce3d0201");

    private PrivateKeys() {}

    /**
     * The key as PKCS#8 without encryption. A text without a key of a known form is returned unchanged.
     *
     * @param pem PKCS#8, encrypted or not, PKCS#1 (RSA), or SEC 1 (EC)
     * @param password null for none; ignored for a key that is not encrypted
     * @throws GeneralSecurityException the key cannot be decrypted
     * @throws IOException the key is damaged
     */
    public static String plain(String pem, String password) throws GeneralSecurityException, IOException {
        Matcher block = PEM.matcher(pem);
        if (!block.find()) {
            return pem;
        }
        byte[] der = Base64.getMimeDecoder().decode(block.group(2));
        String form = block.group(1) == null ? "" : block.group(1);
        byte[] key =
                switch (form) {
                    case "RSA " -> wrapped(RSA, der);
                    case "EC " -> wrapped(joined(EC, curve(der)), der);
                    case "ENCRYPTED " -> decrypted(new EncryptedPrivateKeyInfo(der), password);
                    default -> der;
                };
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(key);
        return "-----BEGIN PRIVATE KEY-----\n" + text + "\n-----END PRIVATE KEY-----\n";
    }

    private static byte[] decrypted(EncryptedPrivateKeyInfo info, String password) throws GeneralSecurityException {
        if (password == null) {
            throw new GeneralSecurityException("it is encrypted and there is no password");
        }
        // OpenSSL writes PBES2. JDK 17 has the algorithms of PBES2, but not under this name.
        boolean named = !info.getAlgName().equals("PBES2");
        String algorithm = named ? info.getAlgName() : info.getAlgParameters().toString();
        SecretKey secret =
                SecretKeyFactory.getInstance(algorithm).generateSecret(new PBEKeySpec(password.toCharArray()));
        Cipher cipher = Cipher.getInstance(algorithm);
        cipher.init(Cipher.DECRYPT_MODE, secret, info.getAlgParameters());
        return info.getKeySpec(cipher).getEncoded();
    }

    private static byte[] wrapped(byte[] algorithm, byte[] key) {
        return element(SEQUENCE, joined(VERSION, element(SEQUENCE, algorithm), element(OCTET_STRING, key)));
    }

    /** The curve of a SEC 1 key: the content of its element [0]. */
    private static byte[] curve(byte[] key) throws IOException {
        try {
            ByteBuffer fields = ByteBuffer.wrap(key);
            fields.get();
            length(fields);
            while (fields.hasRemaining()) {
                int tag = fields.get() & 0xFF;
                byte[] content = new byte[length(fields)];
                fields.get(content);
                if (tag == PARAMETERS) {
                    return content;
                }
            }
        } catch (RuntimeException error) { // the bytes end too early
            throw new IOException("the key is damaged", error);
        }
        throw new IOException("the key does not name its curve");
    }

    private static int length(ByteBuffer der) {
        int first = der.get() & 0xFF;
        if (first < 0x80) {
            return first;
        }
        int length = 0;
        for (int remaining = first & 0x7F; remaining > 0; remaining--) {
            length = length << 8 | der.get() & 0xFF;
        }
        return length;
    }

    private static byte[] element(int tag, byte[] content) {
        int size = content.length;
        byte[] header; // the JDK requires the shortest form of a length
        if (size < 0x80) {
            header = new byte[] {(byte) tag, (byte) size};
        } else if (size < 0x100) {
            header = new byte[] {(byte) tag, (byte) 0x81, (byte) size};
        } else {
            header = new byte[] {(byte) tag, (byte) 0x82, (byte) (size >> 8), (byte) size};
        }
        return joined(header, content);
    }

    private static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }
}
