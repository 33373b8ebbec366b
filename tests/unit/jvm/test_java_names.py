"""Java packages and classes are looked up once."""

from __future__ import annotations

from types import SimpleNamespace

from py4j.java_gateway import JavaClass, JavaPackage, JVMView  # type: ignore[import-untyped]
from py4j.protocol import SUCCESS_CLASS, SUCCESS_PACKAGE  # type: ignore[import-untyped]

from lsql_runner.jvm.java_names import remember_java_names


class Client:
    """A connection to a JVM with some classes, given by name with `_` for `.`. `requested` has the requested names."""

    def __init__(self, **classes: str) -> None:
        self.classes = classes
        self.converters: list[object] = []
        self.gateway_property = SimpleNamespace(pool=None)
        self.requested: list[str] = []

    def send_command(self, command: str) -> str:
        name = command.split("\n")[2]
        self.requested.append(name)
        known = self.classes.get(name.replace(".", "_"))
        return str(SUCCESS_PACKAGE if known is None else SUCCESS_CLASS + known)


def jvm_of(client: Client) -> JVMView:
    remember_java_names()
    remember_java_names()
    return JVMView(client, "default", id="rj")


def test_each_package_and_class_is_requested_once() -> None:
    client = Client(org_example_Thing="org.example.Thing")
    jvm = jvm_of(client)

    classes = [jvm.org.example.Thing for _ in range(3)]

    assert client.requested == ["org", "org.example", "org.example.Thing"]
    assert all(isinstance(each, JavaClass) for each in classes)


def test_a_class_that_is_imported_later_is_found_by_its_simple_name() -> None:
    client = Client()
    jvm = jvm_of(client)
    assert isinstance(jvm.Thing, JavaPackage)

    client.classes["Thing"] = "org.example.Thing"

    assert isinstance(jvm.Thing, JavaClass)
    assert isinstance(jvm.Thing, JavaClass)
    assert client.requested == ["Thing", "Thing"]


def test_names_are_requested_again_from_another_jvm() -> None:
    first, second = Client(), Client()

    assert [jvm_of(client).org._fqn for client in (first, second)] == ["org", "org"]

    assert (first.requested, second.requested) == (["org"], ["org"])
