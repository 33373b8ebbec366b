"""Java key stores for tests, made by the JDK's keytool: a self-signed certificate of 127.0.0.1 and its key."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

PASSWORD = "of-the-test"
COMMAND_S = 60


@dataclass(frozen=True)
class KeyStore:
    """A key with its certificate in `path`, and stores with only the certificate. All have the same password."""

    path: Path

    def trust(self, kind: str) -> Path:
        """A trust store with the certificate; `kind` is PKCS12, JKS or PEM."""
        path = self.path.with_suffix(f".trust.{kind.lower()}")
        if path.exists():
            return path
        certificate = self.path.with_suffix(".crt")
        _keytool("-exportcert", "-rfc", "-alias", "own", "-file", certificate, "-keystore", self.path)
        if kind == "PEM":
            return certificate.rename(path)
        _keytool("-importcert", "-noprompt", "-file", certificate, "-storetype", kind, "-keystore", path)
        return path

    def settings(self) -> dict[str, str]:
        """Properties of a listener, or of a client, that presents the certificate."""
        return {
            "ssl.keystore.location": str(self.path),
            "ssl.keystore.type": "PKCS12",
            "ssl.keystore.password": PASSWORD,
            "ssl.key.password": PASSWORD,
        }


def key_store(folder: Path, name: str) -> KeyStore:
    """Create a key in a new PKCS12 store of the folder."""
    path = folder / f"{name}.p12"
    key = ("-genkeypair", "-alias", "own", "-keyalg", "EC", "-groupname", "secp256r1", "-dname", f"CN={name}")
    _keytool(*key, "-ext", "san=ip:127.0.0.1", "-storetype", "PKCS12", "-keystore", path)
    return KeyStore(path)


def _keytool(*arguments: str | Path) -> None:
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home, "bin", "keytool")) if home else "keytool"
    subprocess.run(
        [program, "-J-XX:TieredStopAtLevel=1", *arguments, "-storepass", PASSWORD],
        capture_output=True,
        timeout=COMMAND_S,
        check=True,
    )
