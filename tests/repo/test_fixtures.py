"""The scopes of fixtures have an effect."""

from pathlib import Path

TESTS = Path(__file__).parents[1]


def test_fixtures_of_a_package_end_with_it() -> None:
    """In a folder that is no package, pytest ends them with the session: then two engines are open, but pyspark
    supports one."""
    files = [file for file in TESTS.rglob("*.py") if f'scope="{"package"}"' in file.read_text()]

    assert len(files) > 1
    assert [file for file in files if not (file.parent / "__init__.py").exists()] == []
