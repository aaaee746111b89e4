"""Verdicts: the bounds that rows write down, evaluated on the figures of their runs.

An expression names figures as ALIAS.FIGURE and has numbers, + - * /, comparisons, and, or, not; lowest(), highest() and mean()
take a figure over all seeds. It is evaluated once for each seed that all runs of the row have. A row is reproduced if it is in each seed;
not reproduced if in no seed even `different` holds (the direction without the size); different otherwise.
"""
import ast
import operator
import re
import statistics

from . import figures, job

REPRODUCED, DIFFERENT, NOT, INCOMPLETE = "reproduced", "different", "not reproduced", "incomplete"
BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
COMPARE = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
           ast.NotEq: operator.ne}
OVER_SEEDS = {"lowest": min, "highest": max, "mean": statistics.fmean}
FIELD = re.compile(r"\{([^{}:]+):?([^{}]*)\}")


class ExpressionError(Exception):
    """An expression that isn't one of these."""


class Scope:
    """What names mean: runs[alias][seed] is a Figures. seed: the one in question. words: names without a point."""

    def __init__(self, runs, seed, words=None):
        self.runs, self.seed, self.words = runs, seed, words or {}

    def figure(self, alias, name):
        return self._runs(alias)[self.seed][name]

    def over_seeds(self, alias, name):
        return [run[name] for run in self._runs(alias).values()]

    def _runs(self, alias):
        if alias not in self.runs:
            raise ExpressionError(f"no alias {alias}")
        return self.runs[alias]


def _parse(text):
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as e:
        raise ExpressionError(f"not understood: {text}") from e


def names(text):
    """All (alias, figure) that an expression names."""
    return [(n.value.id, n.attr) for n in ast.walk(_parse(text))
            if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)]


def evaluate(text, scope):
    """The value. NoFigure if a run doesn't tell a figure that decides."""
    return _value(_parse(text), scope)


def _value(node, scope):
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name) if name in scope.words:
            return scope.words[name]
        case ast.Attribute(value=ast.Name(id=alias), attr=name):
            return scope.figure(alias, name)
        case ast.Call(func=ast.Name(id=function), args=[ast.Attribute(value=ast.Name(id=alias), attr=name)], keywords=[]) \
                if function in OVER_SEEDS:
            return OVER_SEEDS[function](scope.over_seeds(alias, name))
        case ast.BoolOp(op=op, values=values):
            found = False
            for value in values:
                found = bool(_value(value, scope))
                if found == isinstance(op, ast.Or):
                    break
            return found
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand, scope)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
            return _divide_safely(BINARY[type(op)], _value(left, scope), _value(right, scope))
        case ast.Compare(left=left, ops=ops, comparators=rights) if all(type(op) in COMPARE for op in ops):
            values = [_value(part, scope) for part in [left] + rights]
            return all(COMPARE[type(op)](a, b) for op, a, b in zip(ops, values, values[1:]))
    raise ExpressionError(f"not understood: {ast.unparse(node)}")


def _divide_safely(operation, a, b):
    try:
        return operation(a, b)
    except ZeroDivisionError as e:
        raise figures.NoFigure("a division by 0") from e


class Judged:
    """A row, its runs and its verdict."""

    def __init__(self, row, tables, results):
        self.row = row
        self.runs = {}                  # alias: {seed: Figures}
        self.lacking = []               # (run's name, why)
        for alias, name in row.jobs.items():
            self.runs[alias] = {}
            for run in tables.runs_of(name):
                self._take(alias, run, results)
        common = set.intersection(*(set(runs) for runs in self.runs.values()))
        self.seeds = sorted(common)
        self.verdicts = {seed: self._verdict(seed) for seed in self.seeds}
        self.verdict = self._whole()
        self.words = [words for words in (self._says(rule) for rule in row.says) if words]

    def _take(self, alias, run, results):
        result, why = results.load(run)
        if result and result["cause"] in job.BAD:
            why = result["cause"]
        if why:
            self.lacking.append((run.name, why))
        else:
            self.runs[alias][run.seed] = figures.Figures(result)

    def _verdict(self, seed):
        scope = Scope(self.runs, seed)
        try:
            if evaluate(self.row.reproduced, scope):
                return REPRODUCED
            return DIFFERENT if self.row.different and evaluate(self.row.different, scope) else NOT
        except figures.NoFigure as e:
            self.lacking.append((f"seed {seed}", f"no figure: {e}"))
            return INCOMPLETE

    def _whole(self):
        found = set(self.verdicts.values())
        if self.lacking or not found or INCOMPLETE in found:
            return INCOMPLETE
        return found.pop() if len(found) == 1 else DIFFERENT

    def _scopes(self):
        words = {REPRODUCED: self.verdict == REPRODUCED, DIFFERENT: self.verdict == DIFFERENT}
        return [Scope(self.runs, seed, words) for seed in self.seeds]

    def _says(self, rule):
        """The rule's sentence with its figures (means over seeds) if it holds in all seeds, else ""."""
        scopes = self._scopes()
        try:
            if not scopes or not all(evaluate(rule["when"], scope) for scope in scopes):
                return ""
            return FIELD.sub(lambda m: format(statistics.fmean(evaluate(m[1], s) for s in scopes), m[2]), rule["say"])
        except figures.NoFigure:
            return ""

    def values(self, alias, figure):
        """[figure of each seed], those that tell it."""
        found = []
        for _, run in sorted(self.runs[alias].items()):
            try:
                found.append(run[figure])
            except figures.NoFigure:
                pass
        return found


def judge(tables, results, rows):
    return [Judged(row, tables, results) for row in rows]
