"""The documentation is correct: generated pages are up to date, links and commands exist, examples can be planned."""

import re
import shlex
from pathlib import Path

import click
import pytest

from devkit.docs import FOLDER, PAGES, ROOT
from devkit.markdown import anchors
from lsql_runner.bind.functions.table import AGGREGATES, ROWS, SPECIAL_FORMS
from lsql_runner.cli.console import cli as console_cli
from lsql_runner.cli.lsql import cli
from lsql_runner.config.settings import FIELDS
from lsql_runner.container.budget import budget
from lsql_runner.errors import CATALOGUE, LsqlError, render
from lsql_runner.formats.catalog import Catalog
from lsql_runner.formats.declared import declared_topics
from lsql_runner.formats.table import FORMATS
from lsql_runner.observe.metric_table import CONSOLE_METRICS, METRICS
from lsql_runner.pipeline import plan_text
from lsql_runner.status.memory_parts import memory_parts
from lsql_runner.status.model import Status

HIDDEN = {".venv", ".git", "node_modules", "build", "target"}
PAGES_OF_TEXT = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not any(p in HIDDEN or p.startswith(".") for p in path.relative_to(ROOT).parts)
)
COMMANDS = cli.list_commands(click.Context(cli))
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w+)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"^```sql( [\w ]+)?\n(.*?)^```", re.MULTILINE | re.DOTALL)

TOPICS = declared_topics(
    {
        "payments": {
            "key": {"format": "STRING"},
            "value": {
                "format": "JSON",
                "schema": {
                    "id": "long not null",
                    "amount": "double not null",
                    "quantity": "long not null",
                    "currency": "string not null",
                    "customer": "struct<id: long, country: string, name: string not null> not null",
                    "lines": "array<struct<sku: string, qty: int not null>> not null",
                    "at": "long not null",
                },
            },
        },
        "orders": {
            "key": {"format": "JSON", "schema": {"id": "long not null", "shop": "string not null"}},
            "value": {"format": "JSON", "schema": {"total": "double not null"}},
        },
    }
)
"""The topics of the examples."""


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_up_to_date(name: str) -> None:
    path = FOLDER / name

    assert path.exists(), "run `make docs`"
    assert path.read_text(encoding="utf-8") == PAGES[name](), "run `make docs`"


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("functions.md", [*(row.name for row in ROWS), *AGGREGATES, *SPECIAL_FORMS]),
        ("formats.md", list(FORMATS)),
        ("errors.md", list(CATALOGUE)),
        ("settings.md", list(FIELDS)),
        ("metrics.md", [metric.name for metric in METRICS]),
        ("cli.md", [*COMMANDS, *console_cli.commands]),
    ],
)
def test_every_name_is_on_its_page(page: str, names: list[str]) -> None:
    text = (FOLDER / page).read_text(encoding="utf-8")

    assert [name for name in names if not re.search(rf"(?<![\w]){name}(?!\w)", text)] == []


def test_every_error_has_a_way_out() -> None:
    assert [code for code, kind in CATALOGUE.items() if not kind.message.endswith(".") or not kind.way_out] == []


@pytest.mark.parametrize("path", PAGES_OF_TEXT, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_exist(path: Path) -> None:
    links = [link for link in LINK.findall(path.read_text(encoding="utf-8")) if "://" not in link]

    assert [link for link in links if not link_exists(path, link)] == []


@pytest.mark.parametrize("path", PAGES_OF_TEXT, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_exist(path: Path) -> None:
    blocks = [body for language, body in BLOCK.findall(path.read_text(encoding="utf-8")) if language == "console"]
    commands = [line[2:] for body in blocks for line in body.splitlines() if line.startswith("$ ")]

    assert [command for command in commands if not exists(command)] == []


@pytest.mark.parametrize("page", ["alerts", "backup", "brokers-down", "console", "troubleshooting"])
def test_error_codes_settings_and_metrics_of_a_guide_for_operators_exist(page: str) -> None:
    text = (ROOT / f"docs/guides/{page}.md").read_text(encoding="utf-8")
    metrics = {metric.name for metric in (*METRICS, *CONSOLE_METRICS)}

    assert set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", text)) - {*CATALOGUE, *FIELDS} == set()
    assert set(re.findall(r"\blsql_[a-z]+_[a-z_]+\b", text)) - metrics == set()


def examples() -> list[tuple[str, str]]:
    """The programs of README and language guide: the expected error code or none, and the text."""
    texts = [(ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "docs/guides/language.md")]
    return [(expected.strip(), body) for text in texts for expected, body in EXAMPLE.findall(text)]


@pytest.mark.parametrize(("expected", "body"), examples())
def test_a_program_has_the_documented_outcome(expected: str, body: str) -> None:
    """A block ```sql is planned; ```sql CODE must be refused with that code."""
    assert outcome(body) == (expected or "planned")


def test_the_readme_shows_the_actual_error() -> None:
    text = "INSERT INTO big SELECT STREAM * FROM payments WHERE amout > 1000"
    shown = "struct<country: string, name: string>"
    value = {"format": "JSON", "schema": {"id": "long", "amount": "double", "currency": "string", "customer": shown}}
    topics = declared_topics({"payments": {"value": value}})

    with pytest.raises(LsqlError) as caught:
        plan_text(text, Catalog(topics))

    assert render(caught.value, text) in (ROOT / "README.md").read_text(encoding="utf-8")


def outcome(body: str) -> str:
    try:
        plan_text(body, Catalog(TOPICS, sinks={"shop": "postgresql", "cache": "redis"}))
    except LsqlError as error:
        return error.code
    return "planned"


def link_exists(page: Path, link: str) -> bool:
    file, _, anchor = link.partition("#")
    target = (page.parent / file).resolve() if file else page
    if not target.exists():
        return False
    return not anchor or anchor in anchors(target)


USUAL_TOOLS = (
    *("git", "cd", "curl", "export", "helm", "kubectl", "keytool", "openssl"),
    *("kafka-acls", "kafka-consumer-groups"),
)


def exists(command: str) -> bool:
    """Whether a shell line runs only make targets, commands of lsql, and usual tools for Kafka on Kubernetes."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    words = [word for word in shlex.split(command, comments=True) if not re.match(r"[A-Z_]+=", word)]
    match words:
        case ["make", *rest]:
            return set(rest) <= targets
        case [program, name, *_] if Path(program).name == "lsql":
            return name in COMMANDS
        case ["lsql-console", name, *_]:
            return name in console_cli.commands
        case [program, *_]:
            return program in USUAL_TOOLS
    return False


def test_the_table_of_the_memory_budget_has_its_parts_and_sizes() -> None:
    text = (ROOT / "docs/guides/operating.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\| ([\d,]+) \| ([\d,]+) \|", text, re.MULTILINE)
    documented = [{name: int(row[limit].replace(",", "")) for name, *row in rows} for limit in (0, 1)]

    for parts, limit_mib in zip(documented, (768, 2048), strict=True):
        assert parts == {part.part: part.budget_bytes >> 20 for part in memory_parts(budget(limit_mib), Status())}


def test_architecture_names_all_packages_and_the_size_of_the_java_module() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    java = ROOT / "image/jvm/src/main/java/com/lsqlrunner"
    files = list(java.rglob("*.java"))
    lines = sum(len(file.read_text().splitlines()) for file in files)
    first_cells = re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE)
    named = {name.rstrip("/") for cell in first_cells for name in re.findall(r"`([\w./]+)`", cell)}
    packages = {path.parent.name for path in (ROOT / "image/src/lsql_runner").glob("*/__init__.py")}
    packages |= {path.name for path in java.iterdir() if path.is_dir()}

    said = re.search(r"about (\d+) source files with ([\d,]+) lines", text)
    assert said is not None
    assert int(said[1]) == pytest.approx(len(files), rel=0.1)
    assert int(said[2].replace(",", "")) == pytest.approx(lines, rel=0.1)
    assert not packages - named


def test_the_index_of_decisions_has_each_one_with_a_status() -> None:
    folder = ROOT / "docs/decisions"
    rows = re.findall(r"^\| \[(\d{4})\]\((.+?)\) \| .+ \| (.+) \|$", (folder / "README.md").read_text(), re.MULTILINE)

    assert [(number, file) for number, file, _ in rows] == [
        (path.name[:4], path.name) for path in sorted(folder.glob("0*.md"))
    ]
    assert all(status.startswith(("accepted", "superseded by")) for _, _, status in rows)
