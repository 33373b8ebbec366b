"""HDFS for tests: a NameNode and a DataNode of Hadoop's mini cluster, on random ports of this machine."""

from ci.tools.ports import free_port
from devkit.jars import jar_folder, java_command
from devkit.process import Process


class Hdfs(Process):
    """An empty HDFS with one copy of each file."""

    def __init__(self) -> None:
        self.port = free_port()
        super().__init__([], name="hdfs", probe=self._is_ready, deadline_s=180)
        self._written = self.folder / "ready.xml"
        data = f"-Dtest.build.data={self.folder / 'data'}"
        self.argv = [
            *java_command(jar_folder("hdfs-jars"), "org.apache.hadoop.test.MiniDFSClusterManager", data),
            *("-format", "-datanodes", "1", "-nnport", str(self.port), "-writeConfig", str(self._written)),
        ]

    def _is_ready(self) -> bool:
        return self._written.exists()

    @property
    def uri(self) -> str:
        """Of the root."""
        return f"hdfs://127.0.0.1:{self.port}"

    def variables(self) -> dict[str, str]:
        """The settings of a processor whose state is there, except LSQL_STATE_URI."""
        return {"LSQL_STATE_OPTION_DFS_REPLICATION": "1"}

    def options(self) -> dict[str, str]:
        """The settings of Hadoop for it."""
        return {"dfs.replication": "1"}
