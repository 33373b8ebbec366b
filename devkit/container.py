"""A container of the image under runc: with the limits of a pod, but without a cluster."""

import json
import os
import subprocess
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from ci.tools.image import has_image, image_root, podman
from devkit.process import Process

UID = 10001
GROUP = "lsql-tests"
"""The parent control group of the containers."""
MIB = 1 << 20
CPU_PERIOD_US = 100_000


class Container(Process):
    """A container with the read-only root of the image, a writable /tmp and state directory, and the network of the
    machine.

    It has the restrictions of the restricted Pod Security level: no root, no capabilities, no new privileges. If `argv`
    is None, the command of the image runs.
    """

    def __init__(
        self,
        image: str,
        *,
        probe: Callable[[], bool],
        env: Mapping[str, str],
        argv: Sequence[str] | None = None,
        cpus: float = 1.0,
        memory_mib: int = 768,
        state: Path | None = None,
        deadline_s: float = 60,
    ) -> None:
        self.id = f"lsql-{uuid.uuid4().hex[:10]}"
        super().__init__(
            ["runc", "run", "--bundle", ".", self.id],
            name="container",
            probe=probe,
            deadline_s=deadline_s,
            grace_s=45,
            env={"XDG_RUNTIME_DIR": ""},
        )
        self._state = state or self.folder / "state"
        self._temporary = self.folder / "tmp"
        for folder in (self._state, self._temporary):
            folder.mkdir(exist_ok=True)
            os.chown(folder, UID, UID)
        config = json.loads(podman("image", "inspect", image))[0]["Config"]
        command = [*config["Entrypoint"], *(argv or config["Cmd"])]
        variables = [*config["Env"], *(f"{name}={value}" for name, value in env.items())]
        self._root = image_root(image)
        root = str(self._root.__enter__())
        (self.folder / "config.json").write_text(
            json.dumps(_config(root, command, variables, self._writable(), self.id, cpus, memory_mib))
        )

    def _writable(self) -> dict[str, Path]:
        """The writable folders. They are on the disk as an emptyDir is: a tmpfs would count as memory."""
        return {"/tmp": self._temporary, "/var/lib/lsql-runner": self._state}

    def pids(self) -> list[int]:
        """The ids of the container's processes in the PID namespace of the machine."""
        listed = subprocess.run(["runc", "ps", "--format", "json", self.id], check=True, capture_output=True, text=True)
        return [int(pid) for pid in json.loads(listed.stdout) or ()]  # null while it ends

    def resident_mib(self) -> float:
        """The resident memory of the container's processes, mapped files included.

        A page that processes share is divided among them (PSS).
        """
        return self._pss_mib("Pss:")

    def anonymous_mib(self) -> float:
        """The part of `resident_mib` that is not backed by files, so the kernel cannot drop it."""
        return self._pss_mib("Pss_Anon:")

    def _pss_mib(self, field: str) -> float:
        total_kib = 0
        for pid in self.pids():
            with suppress(FileNotFoundError, ProcessLookupError):  # a child process that has ended
                words = Path(f"/proc/{pid}/smaps_rollup").read_text().split()
                total_kib += int(words[words.index(field) + 1])
        return total_kib / 1024

    def cpu_s(self) -> float:
        """The processor time of the container in seconds."""
        version_1 = Path("/sys/fs/cgroup/cpuacct", GROUP, self.id, "cpuacct.usage")
        if version_1.exists():
            return int(version_1.read_text()) / 1e9
        microseconds = Path("/sys/fs/cgroup", GROUP, self.id, "cpu.stat").read_text().split()[1]
        return int(microseconds) / 1e6

    def signal(self, name: str) -> None:
        """Send a signal to the first process of the container."""
        subprocess.run(["runc", "kill", self.id, name], check=True, capture_output=True)

    def stop(self) -> int | None:
        """End the container as a kubelet does."""
        if self.running:
            with suppress(subprocess.CalledProcessError):
                self.signal("TERM")
            with suppress(AssertionError):
                self.wait(self._grace_s)
        return self.kill()

    def kill(self) -> int | None:
        """Kill all processes of the container."""
        subprocess.run(["runc", "delete", "--force", self.id], check=False, capture_output=True)
        return super().kill()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        self._root.__exit__(kind, error, trace)


def built_image(name: str) -> str:
    """Returns the name of an image; AssertionError if podman does not have it."""
    assert has_image(name), f"podman has no image {name}: run `make image`"
    return name


def _config(
    root: str,
    command: list[str],
    variables: list[str],
    writable: dict[str, Path],
    name: str,
    cpus: float,
    memory_mib: int,
) -> dict[str, Any]:
    quota = {"quota": int(cpus * CPU_PERIOD_US), "period": CPU_PERIOD_US}
    small = ["nosuid", "noexec", "nodev", "mode=1777"]
    return {
        "ociVersion": "1.0.2",
        "process": {
            "user": {"uid": UID, "gid": UID},
            "args": command,
            "env": variables,
            "cwd": "/tmp",
            "noNewPrivileges": True,
        },
        "root": {"path": root, "readonly": True},
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
            {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": small},
            {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["ro", "nosuid", "nodev"]},
            {"destination": "/sys/fs/cgroup", "type": "cgroup", "source": "cgroup", "options": ["ro", "nosuid"]},
            *(
                {"destination": path, "type": "bind", "source": str(folder), "options": ["bind", "rw"]}
                for path, folder in writable.items()
            ),
            *(
                {"destination": path, "type": "bind", "source": path, "options": ["bind", "ro"]}
                for path in ("/etc/resolv.conf", "/etc/hosts")
            ),
        ],
        "linux": {
            "cgroupsPath": f"/{GROUP}/{name}",
            "resources": {"cpu": quota, "memory": {"limit": memory_mib * MIB, "swap": memory_mib * MIB}},
            "namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount")],
        },
    }
