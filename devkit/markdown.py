"""Markdown of the generated reference pages, and the anchors of all pages."""

import re
from pathlib import Path

GENERATED = "<!-- Made by `make docs` from {source}; do not edit. -->"
"""The first line of a page that is generated as a whole."""


def code(text: str) -> str:
    """Text as code in a table cell; between two back-ticks if the text contains one."""
    escaped = text.replace("|", "\\|")
    return f"`` {escaped} ``" if "`" in text else f"`{escaped}`"


def cell(text: str) -> str:
    """Text in a table cell, escaped. `<` stays as it is within back-ticks, where Markdown shows entities as text."""
    pieces = text.replace("|", "\\|").replace("\n", " ").split("`")
    return "`".join(piece if index % 2 else piece.replace("<", "&lt;") for index, piece in enumerate(pieces))


def code_list(names: frozenset[str]) -> str:
    """A sentence that lists names as code, sorted."""
    return ", ".join(f"`{name}`" for name in sorted(names)) + "."


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
