"""Java's packages and classes are asked for once."""

from __future__ import annotations

from types import SimpleNamespace

from py4j.java_gateway import JavaClass, JavaPackage, JVMView  # type: ignore[import-untyped]
from py4j.protocol import SUCCESS_CLASS, SUCCESS_PACKAGE  # type: ignore[import-untyped]

from lsql_runner.engine.java_names import remember_java_names


class Client:
    """A JVM that knows some classes by the names that py4j asks for. `asked` holds all names."""

    def __init__(self, **classes: str) -> None:
        self.classes = classes
        self.converters: list[object] = []
        self.gateway_property = SimpleNamespace(pool=None)
        self.asked: list[str] = []

    def send_command(self, command: str) -> str:
        name = command.split("\n")[2]
        self.asked.append(name)
        found = self.classes.get(name.replace(".", "_"))
        return str(SUCCESS_PACKAGE if found is None else SUCCESS_CLASS + found)


def jvm_of(client: Client) -> JVMView:
    remember_java_names()
    remember_java_names()
    return JVMView(client, "default", id="rj")


def test_each_part_of_a_name_is_asked_for_once() -> None:
    client = Client(org_example_Thing="org.example.Thing")
    jvm = jvm_of(client)

    found = [jvm.org.example.Thing for _ in range(3)]

    assert client.asked == ["org", "org.example", "org.example.Thing"]
    assert all(isinstance(one, JavaClass) for one in found)


def test_a_class_that_is_imported_later_is_found_by_its_simple_name() -> None:
    client = Client()
    jvm = jvm_of(client)
    assert isinstance(jvm.Thing, JavaPackage)

    client.classes["Thing"] = "org.example.Thing"

    assert isinstance(jvm.Thing, JavaClass)
    assert isinstance(jvm.Thing, JavaClass)
    assert client.asked == ["Thing", "Thing"]


def test_another_jvm_is_asked_again() -> None:
    first, second = Client(), Client()

    assert [jvm_of(client).org._fqn for client in (first, second)] == ["org", "org"]

    assert (first.asked, second.asked) == (["org"], ["org"])
