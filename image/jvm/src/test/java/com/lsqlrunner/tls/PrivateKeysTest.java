package com.lsqlrunner.tls;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPairGenerator;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class PrivateKeysTest {
    private static final String PASSWORD = "k\"e\\y";
    private static final int PKCS8_HEADER_BYTES = 26;

    /** The private value of the key below. */
    private static final BigInteger PRIVATE_VALUE =
            new BigInteger("69e324784008a6f84a57366dca8f89565b81faafc9ccee51c8d8c974ec50abcb", 16);
    /** A key for this test, as `openssl ecparam -genkey` writes it. */
    private static final String SEC1 =
            "MHcCAQEEIGnjJHhACKb4Slc2bcqPiVZbgfqvyczuUcjYyXTsUKvLoAoGCCqGSM49AwEHoUQDQgAEYtrW3JUu1bv2"
                    + "+JZ9oRbPRKi5cQOe6Jegz2wpwZCtPEvDDnx0zfPoa19KoENaq0rQ+M1D36Tb8wlZcnZvyII0rQ==";
    /** The same key, as `openssl pkcs8 -topk8` encrypts it: PBES2. */
    private static final String PBES2 =
            "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAj8Hj9+jyaPPwICCAAwDAYIKoZIhvcNAgkFADAdBglg"
                    + "hkgBZQMEASoEED9MMOU5h+M49xWastlFpRoEgZDSrhQlGmxV1yJNKodIinw+c7pF70i7eTwtyMv5Oha83P+UTIVN"
                    + "hLhnJF5l96IywqBDK+FnUbpwu+z4wGv2w0zFkFfviSJQ4K1CPG1N+XMIdiZ7yjzXCr3RAagHlkG9dHNQcYlYCJjG"
                    + "2Nq9BB/YX5O//TxtYoq5Bt8tR5e1THbdlaiXTlpfK7i7Gy7ME30igyc=";
    /** The same key, with `-v1 PBE-SHA1-3DES`. */
    private static final String PBES1 =
            "MIGxMBwGCiqGSIb3DQEMAQMwDgQIje/K8p8NNcsCAggABIGQUoYYRJjUZ327l0UafNNN7xh+HGlMXi4NZvStJOeD"
                    + "4VUwL+ICATWXQwnHipfHKYimX7qda2I8b4GU2Ew/IuOfzxdwJypPtc1m4h5N5nsS8e5XrGrc6wbzosW2Uqq2kikF"
                    + "MtrLki3pYk4c5icexfgfJiqrZXv/VYjIvQdeH/P5W9lI8zhoRG0OhzxaM2hEd47K";

    private static byte[] rsa() throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(2048);
        return generator.generateKeyPair().getPrivate().getEncoded();
    }

    private static String pem(String kind, byte[] der) {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
        return "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n";
    }

    private static String encrypted(String base64) {
        return pem("ENCRYPTED PRIVATE KEY", Base64.getDecoder().decode(base64));
    }

    private static byte[] der(String pem) {
        String begin = "-----BEGIN PRIVATE KEY-----\n";
        return Base64.getMimeDecoder().decode(pem.substring(begin.length(), pem.indexOf("\n-----END")));
    }

    private static BigInteger privateValue(String pem) throws GeneralSecurityException {
        PKCS8EncodedKeySpec spec = new PKCS8EncodedKeySpec(der(pem));
        ECPrivateKey key = (ECPrivateKey) KeyFactory.getInstance("EC").generatePrivate(spec);
        assertEquals(256, key.getParams().getOrder().bitLength());
        return key.getS();
    }

    @Test
    void keepsAKeyThatIsNotEncrypted() throws Exception {
        String key = pem("PRIVATE KEY", rsa());

        assertEquals(key, PrivateKeys.plain(key, null));
        assertEquals(key, PrivateKeys.plain("Bag Attributes: none\n" + key, "not needed"));
    }

    @Test
    void convertsPkcs1() throws Exception {
        byte[] key = rsa();
        byte[] inner = Arrays.copyOfRange(key, PKCS8_HEADER_BYTES, key.length);

        assertArrayEquals(key, der(PrivateKeys.plain(pem("RSA PRIVATE KEY", inner), null)));
    }

    @Test
    void convertsSec1WithItsCurve() throws Exception {
        String key = pem("EC PRIVATE KEY", Base64.getDecoder().decode(SEC1));

        assertEquals(PRIVATE_VALUE, privateValue(PrivateKeys.plain(key, null)));
    }

    @Test
    void decryptsKeysOfOldAndNewOpenssl() throws Exception {
        for (String key : new String[] {PBES2, PBES1}) {
            assertEquals(PRIVATE_VALUE, privateValue(PrivateKeys.plain(encrypted(key), PASSWORD)));
        }
    }

    @Test
    void refusesAWrongOrMissingPassword() {
        assertThrows(GeneralSecurityException.class, () -> PrivateKeys.plain(encrypted(PBES2), "wrong"));
        assertThrows(GeneralSecurityException.class, () -> PrivateKeys.plain(encrypted(PBES2), null));
    }

    @Test
    void refusesAKeyThatIsTruncatedOrHasNoCurve() {
        String truncated = pem("EC PRIVATE KEY", new byte[] {0x30, 0x31, 0x02});
        String withoutCurve = pem("EC PRIVATE KEY", HexFormat.of().parseHex("3003020101"));

        assertThrows(IOException.class, () -> PrivateKeys.plain(truncated, null));
        assertThrows(IOException.class, () -> PrivateKeys.plain(withoutCurve, null));
    }

    @Test
    void keepsATextWithoutAKey() throws Exception {
        assertEquals("no key", PrivateKeys.plain("no key", null));
    }
}
