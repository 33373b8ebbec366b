package com.lsqlrunner.avro;

import com.lsqlrunner.kafka.PrivateKeys;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** TLS from PEM texts. */
final class Tls {
  private static final char[] NO_PASSWORD = {};

  private Tls() {}

  /**
   * Sockets that trust {@code ca} alone and show {@code certificate}; null where nothing is given.
   *
   * @throws IllegalArgumentException one of them cannot be used
   */
  static SSLSocketFactory factory(String ca, String certificate, String key, String password) {
    if (ca == null && certificate == null) {
      return null;
    }
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(
          certificate == null ? null : identity(certificate, key, password), ca == null ? null : trust(ca), null);
      return context.getSocketFactory();
    } catch (GeneralSecurityException | IOException error) {
      throw new IllegalArgumentException("the registry's TLS cannot be set up: " + error.getMessage(), error);
    }
  }

  private static TrustManager[] trust(String pem) throws GeneralSecurityException, IOException {
    KeyStore store = empty();
    int number = 0;
    for (Certificate certificate : certificates(pem)) {
      store.setCertificateEntry("ca" + number++, certificate);
    }
    TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    managers.init(store);
    return managers.getTrustManagers();
  }

  private static KeyManager[] identity(String pem, String key, String password)
      throws GeneralSecurityException, IOException {
    if (key == null) {
      throw new GeneralSecurityException("there is a certificate, but no key");
    }
    KeyStore store = empty();
    Certificate[] chain = certificates(pem).toArray(Certificate[]::new);
    store.setKeyEntry("own", privateKey(PrivateKeys.plain(key, password)), NO_PASSWORD, chain);
    KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(store, NO_PASSWORD);
    return managers.getKeyManagers();
  }

  private static PrivateKey privateKey(String pem) throws GeneralSecurityException {
    String base64 = pem.replaceAll("-----[A-Z ]+-----", "").strip();
    PKCS8EncodedKeySpec key = new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(base64));
    for (String algorithm : List.of("RSA", "EC", "EdDSA")) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(key);
      } catch (InvalidKeySpecException error) {
        continue; // the text does not say which it is
      }
    }
    throw new GeneralSecurityException("the key is of no known kind");
  }

  private static List<? extends Certificate> certificates(String pem) throws GeneralSecurityException {
    byte[] text = pem.getBytes(StandardCharsets.UTF_8);
    List<? extends Certificate> found =
        List.copyOf(CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(text)));
    if (found.isEmpty()) {
      throw new GeneralSecurityException("a text holds no certificate");
    }
    return found;
  }

  private static KeyStore empty() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }
}
