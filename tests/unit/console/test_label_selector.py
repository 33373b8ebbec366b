"""Label selectors as the API server sends them."""

from __future__ import annotations

import pytest

from lsql_runner.console.label_selector import parse_selector
from lsql_runner.errors import LsqlError

LABELS = {"app": "fast", "app.kubernetes.io/instance": "fleet", "tier": ""}


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ("", True),
        (" ", True),
        ("app=fast", True),
        ("app==fast", True),
        ("app = fast", True),
        ("app=slow", False),
        ("none=fast", False),
        ("app!=slow", True),
        ("app!=fast", False),
        ("none!=fast", True),
        ("tier=", True),
        ("app=", False),
        ("app in (slow,fast)", True),
        ("app in (slow, fast)", True),
        ("app in(slow)", False),
        ("app notin (slow)", True),
        ("app notin (fast)", False),
        ("none notin (fast)", True),
        ("app", True),
        ("none", False),
        ("!none", True),
        ("!app", False),
        ("app.kubernetes.io/instance=fleet,app in (fast,slow),!none", True),
        ("app.kubernetes.io/instance=fleet,app=slow", False),
    ],
)
def test_every_requirement_has_to_be_met(selector: str, matches: bool) -> None:
    assert all(requirement.allows(LABELS) for requirement in parse_selector(selector)) is matches


@pytest.mark.parametrize(
    ("selector", "part"),
    [
        ("app=fast,", ""),
        ("app=fast slow", "app=fast slow"),
        ("app in fast", "app in fast"),
        ("app in (fast", "app in (fast"),
        ("app > 3", "app > 3"),
        ("app in (a b)", "app in (a b)"),
        ("=fast", "=fast"),
        ("app=fast,!", "!"),
    ],
)
def test_another_text_is_refused_with_its_place(selector: str, part: str) -> None:
    with pytest.raises(LsqlError) as caught:
        parse_selector(selector)

    assert (caught.value.code, caught.value.params) == ("SELECTOR_INVALID", {"selector": selector, "part": part})
