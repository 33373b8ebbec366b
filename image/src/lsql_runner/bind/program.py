"""Program and Catalog to BoundProgram: the second stage of the pipeline. It uses no clock, network or Spark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from lsql_runner.bind.bound import BoundInsert, BoundProgram, BoundSelect, BoundSinkInsert, BoundTopic, keeps_source
from lsql_runner.bind.declarations import with_declarations
from lsql_runner.bind.dialects import Dialect, dialect_of
from lsql_runner.bind.error_policies import TOPIC_NAME, check_dead_letter_topic
from lsql_runner.bind.functions.spec import Function
from lsql_runner.bind.functions.user import user_function
from lsql_runner.bind.implicit_tables import (
    implicit_tables,
    implicit_tables_inside,
    joined_without_time_limit,
)
from lsql_runner.bind.nulls import output_type
from lsql_runner.bind.output_formats import output_serde, with_schema
from lsql_runner.bind.query_size import check_size
from lsql_runner.bind.random_calls import refuse_random_state
from lsql_runner.bind.select import bind_select
from lsql_runner.bind.settings import ProgramSettings, is_legacy
from lsql_runner.bind.sinks import bind_sink_insert, sink_of
from lsql_runner.bind.source_formats import source_formats, source_topics
from lsql_runner.errors import Detail, DetailTable, LsqlError
from lsql_runner.formats.catalog import Catalog
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.sql.unsupported import unsupported


def bind_program(program: ast.Program, settings: ProgramSettings, catalog: Catalog) -> BoundProgram:
    """The program with all names resolved and all expressions typed.

    Args:
        program: the parsed program.
        settings: the values of its SET statements.
        catalog: the topics.

    Raises:
        LsqlError: any code of docs/reference/errors.md that concerns a program, with a span.
    """
    default: Dialect = "legacy" if is_legacy(program.settings) else "modern"
    catalog = with_declarations(program, settings, catalog)
    _check_topics(program, catalog, settings)
    _check_formats(program, catalog)
    functions = {name: user_function(function) for name, function in catalog.functions.items()}
    context = _Context(catalog, settings, default, functions)
    shared = _bind_tables(program.shared_tables, {}, context, implicit_tables(program), inside_insert=False)
    inserts = tuple(_bind_insert(insert, shared, context) for insert in program.inserts)
    return BoundProgram(inserts, settings, settings.warnings)


@dataclass(frozen=True, slots=True)
class _Context:
    """What all SELECTs of a program share."""

    catalog: Catalog
    settings: ProgramSettings
    default_dialect: Dialect
    """The dialect of a SELECT whose syntax is the same in both."""
    functions: Mapping[str, Function]
    """The user-defined functions, by name."""

    def bind(
        self,
        select: ast.Select,
        tables: Mapping[str, BoundSelect],
        inside_insert: bool,
        is_implicit: bool = False,
    ) -> BoundSelect:
        """A SELECT.

        Args:
            tables: the WITH queries that it can read.
            inside_insert: whether it is a WITH query inside an INSERT, or the body of such an INSERT.
            is_implicit: whether a join reads it as a table, so that STREAM or TABLE can be left out.
        """
        dialect = dialect_of(select, inside_insert, self.default_dialect)
        as_tables = [*joined_without_time_limit(select), *([select.source] if is_implicit else [])]
        subselects: dict[int, BoundSelect] = {}

        def look_up(source: ast.Source) -> BoundTopic | BoundSelect:
            if isinstance(source, ast.SourceName):
                return tables[source.name.name] if source.name.name in tables else self.topic(source.name)
            if id(source) not in subselects:
                is_table = any(source is table for table in as_tables)
                subselects[id(source)] = self.bind(source.select, tables, inside_insert, is_table)
            return subselects[id(source)]

        if is_implicit and select.mode is None:
            source = look_up(select.source)
            if isinstance(source, BoundTopic) or source.is_table:
                select = replace(select, mode="TABLE")
        bound = bind_select(select, look_up, self.settings, dialect, self.functions)
        check_size(bound, select.projections[0].span.to(select.projections[-1].span))
        return bound

    def topic(self, name: ast.Ident) -> BoundTopic:
        """A topic that the program reads.

        Raises:
            LsqlError: TOPIC_UNKNOWN.
        """
        schema = self.catalog.schemas.get(name.name)
        if schema is None:
            raise _topic_unknown(name.name, name.span, _PLACE("DECLARATIONS"), self.catalog.schemas)
        return BoundTopic(schema)


def _check_topics(program: ast.Program, catalog: Catalog, settings: ProgramSettings) -> None:
    targets = {insert.target.name for insert in program.inserts if sink_of(insert, catalog) is None}
    check_dead_letter_topic(settings.errors, {*source_topics(program), *targets})
    for insert in program.inserts:
        if insert.target.name in targets and not TOPIC_NAME.fullmatch(insert.target.name):
            raise LsqlError("TARGET_NAME_INVALID", insert.target.span, topic=insert.target.name)
    if catalog.existing is None:
        return
    for topic, span in source_topics(program).items():
        if topic not in catalog.existing:
            raise _topic_unknown(topic, span, _PLACE("BROKERS"), catalog.existing)
    for insert in program.inserts:
        topic = insert.target.name
        if sink_of(insert, catalog) is not None:
            continue
        if topic not in catalog.existing and not settings.topic(topic).autocreate:
            raise LsqlError("TARGET_UNKNOWN", insert.target.span, topic=topic)
    queue = settings.errors.dead_letter_topic
    if queue is not None and queue not in catalog.existing and not settings.topic(queue).autocreate:
        raise LsqlError("TARGET_UNKNOWN", settings.errors.dead_letter_topic_span, topic=queue)


def _check_formats(program: ast.Program, catalog: Catalog) -> None:
    """Check that the formats in the program are the formats of the catalog."""
    for topic, named in source_formats(program).items():
        schema = catalog.schemas.get(topic)
        if schema is None:
            continue
        for form, serde in ((named.key, schema.key), (named.value, schema.value)):
            if form is not None and form != serde.format:
                span = source_topics(program)[topic]
                raise LsqlError("FORMAT_CONFLICT", span, topic=topic, named=str(form), known=str(serde.format))


def _bind_tables(
    tables: tuple[ast.CommonTable, ...],
    known: Mapping[str, BoundSelect],
    context: _Context,
    implicit: frozenset[str],
    inside_insert: bool,
) -> dict[str, BoundSelect]:
    """The WITH queries by name, including `known`. A query can read the queries before it."""
    bound = dict(known)
    for table in tables:
        if table.name.name in bound:
            raise LsqlError("NAME_DUPLICATE", table.name.span, name=table.name.name)
        name = table.name.name
        bound[name] = context.bind(table.select, bound, inside_insert, name in implicit)
    return bound


def _bind_insert(
    insert: ast.Insert, shared: Mapping[str, BoundSelect], context: _Context
) -> BoundInsert | BoundSinkInsert:
    tables = _bind_tables(insert.tables, shared, context, implicit_tables_inside(insert), inside_insert=True)
    if insert.target.name in tables:
        raise LsqlError("TARGET_IS_WITH_QUERY", insert.target.span, name=insert.target.name)
    sink = sink_of(insert, context.catalog)
    select = context.bind(insert.select, tables, inside_insert=bool(insert.tables))
    if context.settings.guarantee != "at_least_once":
        refuse_random_state(select)
    if sink is not None:
        if context.settings.errors.handles_errors or context.settings.errors.late == "dlq":
            raise unsupported("error policy of sink", insert.target.span)
        return bind_sink_insert(insert, sink, select, context.settings)
    span = insert.select.projections[0].span.to(insert.select.projections[-1].span)
    key_type = output_type(select.key, select.shape.key.type)
    value_type = output_type(select.value, select.shape.value.type)
    key = output_serde(select.key, key_type, select.shape.key, insert.key_format, "key", span)
    value = output_serde(select.value, value_type, select.shape.value, insert.value_format, "value", span)
    topic = context.settings.topic(insert.target.name)
    plain = re.sub(r"\W|^(?=\d)", "_", insert.target.name, flags=re.ASCII)
    key = with_schema(key, "key", f"{plain}_key", topic.key, keeps_source(select.key), span)
    value = with_schema(value, "value", plain, topic.value, keeps_source(select.value), span)
    return BoundInsert(insert.target.name, key, value, select)


_PLACE = DetailTable(
    {
        "BROKERS": "on the brokers, or the client may not describe it",
        "DECLARATIONS": "among the topics that LSQL_TOPICS and CREATE TABLE declare",
    }
)


def _topic_unknown(topic: str, span: Span, place: Detail, known: Iterable[str]) -> LsqlError:
    """TOPIC_UNKNOWN with the five nearest names."""
    near = ", ".join(get_close_matches(topic, sorted(known), n=5, cutoff=0.4)) or "none"
    return LsqlError("TOPIC_UNKNOWN", span, topic=topic, place=place, near=near)
