"""Refuses RANDINT() and UUID() where they change state: a batch that runs again would compute another state."""

from __future__ import annotations

from collections.abc import Iterable

from lsql_runner.bind.bound import BoundJoin, BoundSelect, BoundTopic, part_exprs
from lsql_runner.bind.expr import Expr, FunctionCall, RandomBits, walk
from lsql_runner.bind.sources import BoundSource
from lsql_runner.sql.unsupported import unsupported


def refuse_random_state(select: BoundSelect) -> None:
    """Check that no random value changes the state of an aggregate or a join of an INSERT.

    Raises:
        LsqlError: FEATURE_UNSUPPORTED, at the first such call.
    """
    _check_select(select, is_read_by_state=False)


def _check(source: BoundSource) -> None:
    """Check a source that an aggregate or a join reads."""
    match source:
        case BoundSelect():
            _check_select(source, is_read_by_state=True)
        case BoundJoin():
            _check_join(source)


def _check_select(select: BoundSelect, is_read_by_state: bool) -> None:
    if is_read_by_state:
        _refuse((*part_exprs(select.key), *part_exprs(select.value)))
    if is_read_by_state or select.grouping is not None:
        _refuse((*(array for _, array in select.laterals), select.event_time))
        _refuse(() if select.where is None else (select.where,))
    if (group := select.grouping) is not None:
        _refuse((*(key for _, key in group.keys), *(call for _, call in group.calls)))
        _refuse(() if select.having is None else (select.having,))
        _check(select.source)
        return
    match select.source:
        case BoundSelect() as below:
            _check_select(below, is_read_by_state)
        case BoundJoin() as join:
            _check_join(join)
        case BoundTopic():
            pass


def _check_join(join: BoundJoin) -> None:
    _refuse((*join.left_keys, *join.right_keys, *(() if join.residual is None else (join.residual,)), join.key.expr))
    _check(join.left)
    _check(join.right)


def _refuse(exprs: Iterable[Expr]) -> None:
    for expr in exprs:
        for call in walk(expr):
            if isinstance(call, FunctionCall) and (bits := [a for a in call.args if isinstance(a, RandomBits)]):
                raise unsupported("random state", bits[0].span, function=call.function)
