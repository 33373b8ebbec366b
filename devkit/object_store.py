"""A real object store for tests: Versity's gateway, which serves S3 from a folder, on a random port."""

from ci.tools.ports import free_port
from devkit.jars import jar_folder
from devkit.process import Process, accepts_connections

ACCESS_KEY = "key-of-the-tests"
SECRET_KEY = "secret-of-the-tests"
BUCKET = "states"


class ObjectStore(Process):
    """A server with the empty bucket BUCKET, on a random port of `host`, an address of this machine. After `stop` and
    `start` it has the same files."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.host = host
        self.port = free_port()
        super().__init__(
            [
                *(jar_folder("object-store") / "versitygw", "--port", f"{host}:{self.port}"),
                *("--access", ACCESS_KEY, "--secret", SECRET_KEY, "--quiet"),
            ],
            name="object-store",
            probe=lambda: accepts_connections(self.port, host),
        )
        # The file system of the folder may have no extended attributes.
        buckets, attributes = self.folder / "buckets", self.folder / "attributes"
        (buckets / BUCKET).mkdir(parents=True)
        attributes.mkdir()
        self._log = self.folder / "access.log"
        self.argv += ["--access-log", str(self._log), "posix", "--sidecar", str(attributes), str(buckets)]

    @property
    def uri(self) -> str:
        """Of the bucket."""
        return f"s3a://{BUCKET}"

    def variables(self) -> dict[str, str]:
        """The settings of a processor whose state is in the store, except LSQL_STATE_URI."""
        return {
            "LSQL_STATE_JARS": str(jar_folder("s3a-jars")),
            **{f"LSQL_STATE_OPTION_{name.upper().replace('.', '_')}": value for name, value in self.options().items()},
        }

    def options(self) -> dict[str, str]:
        """The settings of Hadoop for the store."""
        return {
            "fs.s3a.endpoint": f"http://{self.host}:{self.port}",
            "fs.s3a.endpoint.region": "us-east-1",
            "fs.s3a.path.style.access": "true",
            "fs.s3a.access.key": ACCESS_KEY,
            "fs.s3a.secret.key": SECRET_KEY,
            "fs.s3a.aws.credentials.provider": "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
        }

    def requests(self) -> list[str]:
        """The requests so far, as lines of the log of accesses of S3."""
        return self._log.read_text().splitlines() if self._log.exists() else []
