"""Set-up reports missing tools in one line and verifies what it installs; clones share its cache safely."""

import hashlib
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from ci.tools import cache, maven, python_packages

ROOT = Path(__file__).parents[2]

# A python3 that runs the check in the interpreter of the tests, with other values of `sys`.
PYTHON_WITH_OTHER_VALUES = '#!/bin/sh\nexec "{python}" -c "import sys; {assignments}; exec(sys.argv[1])" "$2"\n'


class Machine:
    """A PATH with fakes of the tools that set-up needs; at first all are present and new enough."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tool("python3", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        self.tool("javac", "#!/bin/sh\necho javac 17.0.15\n")
        self.tool("mvn", "#!/bin/sh\n")

    def tool(self, name: str, script: str) -> None:
        (self.folder / name).write_text(script)
        (self.folder / name).chmod(0o755)

    def python(self, assignments: str) -> None:
        self.tool("python3", PYTHON_WITH_OTHER_VALUES.format(python=sys.executable, assignments=assignments))

    def remove(self, name: str) -> None:
        (self.folder / name).unlink()

    def check(self, **env: str) -> tuple[int, str, list[str]]:
        """Run the check; returns exit code, standard output and the lines of standard error."""
        script = ROOT / "ci/tools/check-prerequisites.sh"
        env = {"PATH": str(self.folder), **env}
        result = subprocess.run(["/bin/sh", script], env=env, capture_output=True, text=True, check=False)
        return result.returncode, result.stdout, result.stderr.splitlines()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_complete_machine_prints_its_python(machine: Machine) -> None:
    assert machine.check() == (0, f"{sys.executable}\n", [])


def test_an_old_python_is_reported(machine: Machine) -> None:
    machine.python("sys.version_info = (3, 9, 2)")
    code, _, [line] = machine.check()
    assert code == 2
    assert line.startswith("missing: Python 3.11 or newer (python3 is 3.9). Install: a newer Python")


@pytest.mark.parametrize("version", ["1.8.0_392", "9", "11.0.21", "16"])
def test_an_old_jdk_is_reported(machine: Machine, version: str) -> None:
    machine.tool("javac", f"#!/bin/sh\necho javac {version}\n")
    code, _, [line] = machine.check()
    assert code == 2
    assert line.startswith(f"missing: a JDK 17 or newer (javac is {version}). Install:")


def test_all_missing_tools_are_reported_at_once(machine: Machine) -> None:
    for name in ("python3", "javac", "mvn"):
        machine.remove(name)
    code, _, lines = machine.check()
    assert code == 2
    assert [line.split()[1] for line in lines] == ["Python", "a", "Maven"]


@pytest.fixture
def clones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set-up with an empty cache and an empty `.venv`; returns the cache."""
    monkeypatch.setattr(cache, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(cache, "VENV", tmp_path / "venv")
    (tmp_path / "cache").mkdir()
    return tmp_path / "cache"


def test_a_folder_of_jars_is_built_once_and_linked(clones: Path, tmp_path: Path) -> None:
    def build(folder: Path) -> None:
        (folder / "a.jar").touch()

    assert cache.cached_folder("jars", "key", build)
    assert not cache.cached_folder("jars", "key", build)
    assert [jar.name for jar in (tmp_path / "venv/share/lsql-runner/jars").iterdir()] == ["a.jar"]


def test_a_build_that_fails_leaves_no_folder(clones: Path) -> None:
    def build(folder: Path) -> None:
        (folder / "half.jar").touch()
        raise SystemExit("no network")

    with pytest.raises(SystemExit):
        cache.cached_folder("jars", "key", build)
    assert [path for path in clones.iterdir() if path.is_dir()] == []


def test_concurrent_set_ups_build_once(clones: Path) -> None:
    builds: list[Path] = []
    together = threading.Barrier(2)

    def clone() -> None:
        together.wait(10)
        cache.cached_folder("jars", "key", builds.append)

    threads = [threading.Thread(target=clone) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(builds) == 1


def test_a_step_that_fails_is_run_again(clones: Path) -> None:
    with pytest.raises(SystemExit):
        cache.stamped("step", "key", lambda: cache.run(["false"]))
    assert cache.stamped("step", "key", lambda: None)


@pytest.fixture
def jars(tmp_path: Path) -> Path:
    (tmp_path / "jars/sinks").mkdir(parents=True)
    (tmp_path / "jars/a.jar").write_text("a")
    (tmp_path / "jars/sinks/b.jar").write_text("b")
    return tmp_path / "jars"


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_jars_that_are_pinned_pass(jars: Path) -> None:
    maven.check(jars, f"{sha256('a')}  a.jar\n{sha256('b')}  sinks/b.jar\n")


@pytest.mark.parametrize(
    ("checksums", "named"),
    [
        (f"{sha256('a')}  a.jar\n{sha256('c')}  sinks/b.jar\n", "sinks/b.jar"),
        (f"{sha256('b')}  sinks/b.jar\n", "a.jar"),
        (f"{sha256('a')}  a.jar\n{sha256('b')}  sinks/b.jar\n{sha256('c')}  c.jar\n", "c.jar"),
    ],
    ids=["another content", "not pinned", "missing"],
)
def test_a_jar_with_another_checksum_fails_the_set_up(jars: Path, checksums: str, named: str) -> None:
    with pytest.raises(SystemExit, match=f"set-up failed: {named}: not the jars"):
        maven.check(jars, checksums)


def test_one_maven_runs_every_pom() -> None:
    modules = ET.parse(maven.REACTOR).getroot().iterfind(".//{*}module")
    listed = {(maven.REACTOR.parent / (module.text or "")).resolve() for module in modules}
    poms = {pom for folder in maven.FOLDERS.values() for pom in folder.poms}
    assert {path / "pom.xml" if path.is_dir() else path for path in listed} == poms


SHORT_HEAD = "#!/cache/python-1/bin/python3.11\n"
LONG_HEAD = """#!/bin/sh
'''exec' "/a long path/bin/python" "$0" "$@"
' '''
"""


@pytest.mark.parametrize("head", [SHORT_HEAD, LONG_HEAD], ids=["short path", "long path"])
@pytest.mark.parametrize("checkout", ["checkout", "a checkout " * 14], ids=["short", "long"])
def test_a_shared_script_runs_the_python_of_the_checkout(
    head: str, checkout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(python_packages, "VENV", tmp_path / checkout)
    (tmp_path / checkout / "bin").mkdir(parents=True)
    (tmp_path / checkout / "bin/python").symlink_to(sys.executable)
    (tmp_path / "shared").write_text(f"{head}import sys; print(sys.argv[1])\n")
    script = tmp_path / checkout / "bin/script"

    python_packages.take_script(tmp_path / "shared", script)

    assert subprocess.run([script, "works"], check=True, capture_output=True, text=True).stdout == "works\n"
    assert str(tmp_path / checkout) in script.read_text()
