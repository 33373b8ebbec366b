"""Rules of classes that linters do not check."""

import importlib
import inspect
import pkgutil
from collections import Counter
from collections.abc import Iterator

import pytest

PACKAGES = ("lsql_runner", "devkit", "demo", "bench", "ci")
MOST_POSITIONAL = 4


def modules(package: str) -> Iterator[str]:
    yield package
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        if not module.name.endswith("__main__"):
            yield module.name


def classes(package: str) -> Iterator[type]:
    """The classes that the modules of a package define."""
    for name in modules(package):
        for member in vars(importlib.import_module(name)).values():
            if inspect.isclass(member) and member.__module__ == name:
                yield member


def positional(cls: type) -> int:
    """How many arguments its constructor takes by position; 0 if the class does not define it."""
    if "__init__" not in vars(cls):
        return 0
    parameters = inspect.signature(cls).parameters.values()
    return sum(each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD) for each in parameters)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_constructor_with_more_than_four_parameters_takes_keywords(package: str) -> None:
    assert [cls.__qualname__ for cls in classes(package) if positional(cls) > MOST_POSITIONAL] == []


def test_a_public_class_name_stands_for_one_class() -> None:
    public = [cls.__name__ for package in PACKAGES for cls in classes(package) if not cls.__name__.startswith("_")]

    assert [name for name, number in Counter(public).items() if number > 1] == []
