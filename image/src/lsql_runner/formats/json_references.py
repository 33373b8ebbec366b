"""Resolves references between JSON Schemas (`$ref`, `$id`, `$anchor`, JSON pointers) with the library referencing.

The library takes 0.1 s to load, so import this module only where a schema is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from referencing import Registry, Specification
from referencing.jsonschema import DRAFT3, DRAFT4, DRAFT6, DRAFT7, DRAFT201909, DRAFT202012

_IGNORE_SIBLINGS = (DRAFT3, DRAFT4, DRAFT6, DRAFT7)
"""Drafts in which keywords beside a `$ref` are ignored."""


def _any_id(contents: Any) -> str | None:
    identifier = contents.get("$id", contents.get("id")) if isinstance(contents, Mapping) else None
    return identifier if isinstance(identifier, str) and not identifier.startswith("#") else None


def _any_subresources(contents: Any) -> Iterable[Any]:
    yield from DRAFT201909.subresources_of(contents)
    yield from contents.get("prefixItems", ()) if isinstance(contents, Mapping) else ()


def _any_anchors(_: Specification[Any], contents: Any) -> Iterable[Any]:
    yield from DRAFT202012.anchors_in(contents)
    yield from DRAFT7.anchors_in(contents)


_UNDECLARED: Specification[Any] = Specification(  # type: ignore[call-arg]  # mypy sees no attrs class in it
    name="no $schema",
    id_of=_any_id,
    subresources_of=_any_subresources,
    anchors_in=_any_anchors,
    maybe_in_subresource=DRAFT201909.maybe_in_subresource,
)
"""For a schema that does not declare its draft: ids and anchors as in any draft, siblings of `$ref` as in 2020-12."""


@dataclass(frozen=True, slots=True)
class LocatedSchema:
    """A schema with the base of its references."""

    schema: Any
    _resolver: Any
    _specification: Specification[Any]
    _others: Mapping[str, LocatedSchema]

    @property
    def ignores_siblings(self) -> bool:
        """Whether keywords beside a `$ref` are ignored, as up to draft 7."""
        return self._specification in _IGNORE_SIBLINGS

    def inside(self, schema: Any) -> LocatedSchema:
        """A schema inside this one. If it has an `$id`, that is the base of its references."""
        specification = _specification(schema, self._specification)
        resolver = self._resolver
        if _any_id(schema) is not None:
            resolver = resolver.in_subresource(specification.create_resource(schema))
        return replace(self, schema=schema, _resolver=resolver, _specification=specification)

    def target(self, reference: str) -> LocatedSchema | None:
        """The schema that a `$ref` refers to; None if it does not exist."""
        name, _, fragment = reference.partition("#")
        here = self
        if name in self._others:  # the registry's name of a reference takes precedence over an `$id`
            here, reference = self._others[name], f"#{fragment}"
        try:
            resolved = here._resolver.lookup(reference)
        except Exception:  # the library's own errors, and Python's if a document is not a JSON Schema
            return None
        specification = _specification(resolved.contents, here._specification)
        return replace(self, schema=resolved.contents, _resolver=resolved.resolver, _specification=specification)


def _specification(schema: Any, default: Specification[Any]) -> Specification[Any]:
    is_declared = isinstance(schema, Mapping) and isinstance(schema.get("$schema"), str)
    return default.detect(schema) if is_declared else default


def locate_root(root: Any, others: Mapping[str, Any]) -> LocatedSchema:
    """The root of a JSON Schema.

    Args:
        others: the documents that it refers to, by their names in its `$ref`s.
    """
    documents = {_any_id(root) or "": root, **others}
    registry: Registry[Any] = Registry().with_resources(
        (uri, _specification(document, _UNDECLARED).create_resource(document)) for uri, document in documents.items()
    )
    schemas: dict[str, LocatedSchema] = {}
    for name, document in others.items():
        here = LocatedSchema(document, registry.resolver(name), _UNDECLARED, schemas)
        schemas[name] = here.inside(document)
    specification = _specification(root, _UNDECLARED)
    return LocatedSchema(root, registry.resolver(_any_id(root) or ""), specification, schemas)
