"""Sixty edits of a program with state: a helm upgrade accepts those that the new pod can start, and refuses the others.

tests/kafka/test_edits.py has them without a cluster. Only here the hook of the chart asks the running processor, and a
pod starts with what it has accepted.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from devkit.broker import Broker
from devkit.cluster_release import Helm, HelmFailed, InstalledProcessor
from devkit.edits import CATALOG, CONVERTED, EDITS, KEPT, NEW_MEANINGS, REPLACED, VALUE, with_topics
from devkit.kubectl import Kubectl, KubectlFailed
from devkit.records import Record
from devkit.release_with_traffic import image_values
from lsql_runner.formats.declared import as_declaration
from tests.cluster.conftest import HelmFactory, fresh_namespace
from tests.thorough import inputs

STATE_S = 120


class EditedRelease:
    """A release whose program has state, in a namespace of its own."""

    def __init__(self, helm: Helm, broker: Broker, image: str, name: str) -> None:
        self.helm, self.broker = helm, broker
        self.name = f"edit-{uuid.uuid4().hex[:6]}"
        names = {each: f"{self.name}-{each}" for each in ("t", "u", "o", "other")}
        self.sources = [names["t"], names["u"]]
        for topic in names.values():
            broker.create_topic(topic)
        self.old, self.new = (with_topics(text, {k: f"`{v}`" for k, v in names.items()}) for text in EDITS[name][:2])
        self._values: dict[str, Any] = {
            "image": image_values(image),
            "kafka": {"bootstrapServers": broker.bootstrap},
            "topics": as_declaration({names[each]: CATALOG.schemas[each] for each in "tu"}),
            "metricFrequencyMs": 500,
        }
        self.processor = InstalledProcessor(helm.kubectl, self.name)

    def values(self, sql: str, **values: Any) -> dict[str, Any]:
        return {**self._values, "sql": sql, **values}

    def produce(self) -> None:
        for source in self.sources:
            self.broker.produce(source, [Record(b"k", VALUE)])

    def reach(self, condition: str) -> dict[str, Any]:
        """GET /stream of the processor that runs and has read a record, or that has failed."""
        seen: dict[str, Any] = {}

        def is_reached() -> bool:
            with suppress(AssertionError, KubectlFailed):
                seen.update(self.processor.stream())
            return bool(seen) and (seen["state"] == condition) and (condition == "failed" or seen["recordsIn"] > 0)

        self.helm.kubectl.wait_until(is_reached, STATE_S, f"{self.name} is {condition}")
        return seen


ReleaseFactory = Callable[[str], EditedRelease]
"""Takes the name of an edit."""


@pytest.fixture
def edited(kubectl: Kubectl, kafka: Broker, image: str, newest_helm: HelmFactory) -> Iterator[ReleaseFactory]:
    """Installs the program of an edit, and waits until it has state."""
    with fresh_namespace(kubectl) as namespace:

        def install(name: str) -> EditedRelease:
            release = EditedRelease(newest_helm(namespace), kafka, image, name)
            release.produce()
            release.helm.install(release.name, release.values(release.old))
            release.reach("running")
            return release

        yield install


@pytest.mark.parametrize("name", inputs(KEPT | NEW_MEANINGS, lambda _: False))
def test_an_edit_that_keeps_the_state_is_accepted_and_started(edited: ReleaseFactory, name: str) -> None:
    _check_accepted(edited(name))


# Tests of a class stay in one process; the other ones run beside them.
class TestConversions:
    @pytest.mark.parametrize("name", inputs(CONVERTED, lambda _: False))
    def test_an_edit_whose_state_is_converted_is_accepted_and_started(self, edited: ReleaseFactory, name: str) -> None:
        release = edited(name)
        _check_accepted(release)
        assert release.processor.stream()["generation"] == 2


def _check_accepted(release: EditedRelease) -> None:
    old = release.processor.uid()

    release.helm.upgrade(release.name, release.values(release.new))
    release.produce()

    assert release.reach("running")["reason"] is None
    assert release.processor.uid() != old


class TestRefusals:
    @pytest.mark.parametrize("name", inputs(REPLACED, lambda _: False))
    def test_an_edit_that_does_not_fit_the_state_is_refused_and_its_pod_would_fail(
        self, edited: ReleaseFactory, name: str
    ) -> None:
        release = edited(name)
        old = release.processor.uid()

        with pytest.raises(HelmFailed):
            release.helm.upgrade(release.name, release.values(release.new))
        verdict = release.helm.kubectl.run("logs", f"job/{release.name}-validate")
        assert release.processor.uid() == old
        release.helm.upgrade_without_wait(release.name, release.values(release.new, validation={"enabled": False}))
        reason = release.reach("failed")["reason"]

        assert reason["code"] == "STATE_INCOMPATIBLE"
        _, _, change = reason["message"].partition("does not fit the program: ")
        assert "STATE_INCOMPATIBLE" in verdict
        assert change in verdict
