"""Program and Catalog to BoundProgram: the second stage of the line. No clock, no net, no Spark."""

from __future__ import annotations

import re
from difflib import get_close_matches

from lsql_runner.bind.bound import BoundInsert, BoundProgram, BoundSelect, BoundSinkInsert, BoundTopic
from lsql_runner.bind.catalog import Catalog
from lsql_runner.bind.decoders import source_formats, source_topics
from lsql_runner.bind.formats import output_serde, written
from lsql_runner.bind.generations import generation_of
from lsql_runner.bind.select import bind_select
from lsql_runner.bind.settings import ProgramSettings, bind_settings
from lsql_runner.bind.sinks import bind_sink_insert, sink_of
from lsql_runner.errors import LsqlError
from lsql_runner.sql import ast


def bind_program(program: ast.Program, catalog: Catalog) -> BoundProgram:
    """Give every name a meaning and every expression a type.

    Raises:
        LsqlError: each with its place; see docs/reference/errors.md.
    """
    settings = bind_settings(program.settings)
    _check_topics(program, catalog, settings)
    _check_formats(program, catalog)
    shared = _bind_tables(program.shared_tables, {}, catalog, settings, inside_insert=False)
    inserts = tuple(_bind_insert(insert, shared, catalog, settings) for insert in program.inserts)
    return BoundProgram(inserts, settings, settings.warnings)


def _check_topics(program: ast.Program, catalog: Catalog, settings: ProgramSettings) -> None:
    if catalog.existing is None:
        return
    for topic, span in source_topics(program).items():
        if topic not in catalog.existing:
            near = ", ".join(get_close_matches(topic, sorted(catalog.existing), n=4, cutoff=0.5)) or "none"
            raise LsqlError("TOPIC_UNKNOWN", span, topic=topic, near=near)
    for insert in program.inserts:
        topic = insert.target.name
        if sink_of(insert, catalog) is not None:
            continue
        if topic not in catalog.existing and not settings.topic(topic).autocreate:
            raise LsqlError("TARGET_UNKNOWN", insert.target.span, topic=topic)


def _check_formats(program: ast.Program, catalog: Catalog) -> None:
    """A format that the program names must be the one that its topic was resolved with."""
    for topic, named in source_formats(program).items():
        schema = catalog.schemas.get(topic)
        if schema is None:
            continue
        for wanted, serde in ((named.key, schema.key), (named.value, schema.value)):
            if wanted is not None and wanted != serde.format:
                span = source_topics(program)[topic]
                raise LsqlError("FORMAT_CONTRADICTS", span, topic=topic, named=str(wanted), known=str(serde.format))


def _bind_tables(
    tables: tuple[ast.CommonTable, ...],
    known: dict[str, BoundSelect],
    catalog: Catalog,
    settings: ProgramSettings,
    inside_insert: bool,
) -> dict[str, BoundSelect]:
    """The WITH queries by name, each over those before it."""
    bound = dict(known)
    for table in tables:
        if table.name.name in bound:
            raise LsqlError("NAME_TWICE", table.name.span, name=table.name.name)
        generation_of(table.select, inside_insert)
        source = _source(table.select.source, bound, catalog)
        bound[table.name.name] = bind_select(table.select, source, settings)
    return bound


def _bind_insert(
    insert: ast.Insert, shared: dict[str, BoundSelect], catalog: Catalog, settings: ProgramSettings
) -> BoundInsert | BoundSinkInsert:
    tables = _bind_tables(insert.tables, shared, catalog, settings, inside_insert=True)
    if insert.target.name in tables:
        raise LsqlError("NAME_SHADOWS_TOPIC", insert.target.span, name=insert.target.name)
    generation_of(insert.select, inside_insert=bool(insert.tables))
    sink = sink_of(insert, catalog)
    select = bind_select(insert.select, _source(insert.select.source, tables, catalog), settings)
    if sink is not None:
        return bind_sink_insert(insert, sink, select, settings)
    span = insert.select.projections[0].span.to(insert.select.projections[-1].span)
    key = output_serde(select.key, select.shape.key.type, select.shape.key, insert.key_format, "The key", span)
    value = output_serde(
        select.value, select.shape.value.type, select.shape.value, insert.value_format, "The value", span
    )
    topic = settings.topic(insert.target.name)
    plain = re.sub(r"\W|^(?=\d)", "_", insert.target.name, flags=re.ASCII)
    key = written(key, "The key", topic.key_record or f"{plain}_key", topic.key_namespace, span)
    value = written(value, "The value", topic.value_record or plain, topic.value_namespace, span)
    return BoundInsert(insert.target.name, key, value, select)


def _source(source: ast.Source, tables: dict[str, BoundSelect], catalog: Catalog) -> BoundTopic | BoundSelect:
    name = source.name.name
    if name in tables:
        return tables[name]
    schema = catalog.schemas.get(name)
    if schema is None:
        raise LsqlError(
            "TOPIC_UNKNOWN", source.name.span, topic=name, near=", ".join(sorted(catalog.schemas)) or "none"
        )
    return BoundTopic(schema)
