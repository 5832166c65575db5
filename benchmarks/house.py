"""How far a reader has to walk: figures of the source tree, for one tree or for two side by side.

    python benchmarks/house.py [TREE] [--before OTHER_TREE] [--details]

Prints a Markdown table; `--details` adds the crossings from room to room and the modules with one importer. A tree is
a folder with `src/kedge`. The files passed are those that a default `kedge match` of a small planted pair loads, its
report included; `__main__.py`, `kedge/__init__.py` and the files of commands that are registered without being called
do not count. A room is a folder right under `kedge`, or a module that stands there.

- crossings: import statements in the files passed (those inside functions and for types only included) that name
  another room.
- called: files passed in which a function ran (a compiled one counts where it was called from Python).
- modules with one importer: exactly one other module of the tree imports them.
- complexity: McCabe's, as radon counts it (1, and 1 for each branch, loop, handler, assertion, boolean operator,
  conditional expression, comprehension and its conditions); ruff's C901 leaves the last four out and is the next line.
- lines of code: without blank lines, comments and docstrings.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from measuring import ROOT

# Python loads a module of this name in each process at its start, workers included.
WATCH = """
import atexit, os, sys, threading

package, out, seen = os.environ["HOUSE_PACKAGE"], os.environ["HOUSE_OUT"], set()

def note(kind, file):
    if file.startswith(package) and (kind, file) not in seen:
        seen.add((kind, file))
        with open(out, "a") as lines:
            lines.write(kind + " " + file + chr(10))

def watch(frame, event, _):
    if event == "call":  # the first flag: a function, not the body of a module or of a class
        note("called" if frame.f_code.co_flags & 1 else "loaded", frame.f_code.co_filename)

def note_compiled():
    sys.setprofile(None)
    for name, module in list(sys.modules.items()):
        for made in list(vars(module).values()) if name.startswith("kedge") else ():
            if hasattr(made, "py_func") and made.overloads:
                note("called", made.py_func.__code__.co_filename)

atexit.register(note_compiled)
threading.setprofile(watch)
sys.setprofile(watch)
"""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Tree:
    """The parsed modules of a source tree by their dotted names."""

    source: Path

    @cached_property
    def files(self) -> dict[str, Path]:
        """The file of each module."""
        found = {}
        for path in sorted((self.source / "kedge").rglob("*.py")):
            parts = path.relative_to(self.source).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
        return found

    @cached_property
    def parsed(self) -> dict[str, ast.Module]:
        """The syntax of each module."""
        return {name: ast.parse(path.read_text()) for name, path in self.files.items()}

    def statements(self, name: str) -> Iterator[set[str]]:
        """Of each import statement of a module, the modules of the tree that it names."""
        for node in ast.walk(self.parsed[name]):
            if isinstance(node, ast.ImportFrom) and node.module in self.files:
                inner = {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
                yield {full if full in self.files else str(node.module) for full in inner.values()}
            elif isinstance(node, ast.Import) and any(alias.name in self.files for alias in node.names):
                yield {alias.name for alias in node.names} & set(self.files)

    def with_one_importer(self) -> dict[str, str]:
        """The modules that exactly one other imports, and which."""
        importers: dict[str, list[str]] = {}
        for name in self.files:
            for imported in set().union(*self.statements(name)) - {name}:
                importers.setdefault(imported, []).append(name)
        return {name: users[0] for name, users in importers.items() if len(users) == 1}

    def functions(self) -> Iterator[Function]:
        """All functions, nested ones included."""
        for module in self.parsed.values():
            yield from (node for node in ast.walk(module) if isinstance(node, Function))

    def lines_of_code(self) -> int:
        """Lines that are neither blank nor part of a comment or a docstring."""
        return sum(len(_code_lines(path, self.parsed[name])) for name, path in self.files.items())


def room(name: str) -> str:
    return name.split(".")[1] if "." in name else name


def complexity(function: Function) -> int:
    """McCabe's complexity, as radon counts it; nested functions count for themselves."""
    branches = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Assert, ast.match_case)

    def count(node: ast.AST) -> int:
        found = 0
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Function | ast.ClassDef):
                continue
            if isinstance(child, branches):
                found += 1
            elif isinstance(child, ast.BoolOp):
                found += len(child.values) - 1
            elif isinstance(child, ast.comprehension):
                found += 1 + len(child.ifs)
            found += count(child)
        return found

    return 1 + count(function)


def arguments(function: Function) -> int:
    """As ruff's PLR0913 counts them: without self."""
    made = function.args
    names = [one.arg for one in (*made.posonlyargs, *made.args, *made.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def _code_lines(path: Path, module: ast.Module) -> set[int]:
    quiet = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
    with path.open("rb") as file:
        lines = {
            line
            for token in tokenize.tokenize(file.readline)
            if token.type not in {*quiet, tokenize.ENDMARKER}
            for line in range(token.start[0], token.end[0] + 1)
        }
    for node in ast.walk(module):
        documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            lines -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return lines


def watch_match(tree: Tree) -> tuple[set[str], set[str]]:
    """The modules that a default match loads, and those of which it calls a function."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "watch").mkdir()
        (here / "watch" / "sitecustomize.py").write_text(WATCH)
        out = here / "passed"
        plain = {**os.environ, "PYTHONPATH": str(tree.source)}
        watched = {
            **plain,
            "PYTHONPATH": os.pathsep.join([str(here / "watch"), str(tree.source)]),
            "HOUSE_PACKAGE": str(tree.source / "kedge"),
            "HOUSE_OUT": str(out),
        }
        pair = here / "pair"
        files = [str(pair / f"{name}.tsv") for name in ("left", "right", "train", "test")]
        synth = ["synth", "-o", str(pair), "--nodes", "150", "--overlap", "0.8", "--seed", "3", "-q"]
        match = ["match", *files[:2], "--anchors", files[2], "--test", files[3], "-o", str(here / "run"), "-q"]
        for words, environment in ((synth, plain), (match, watched)):
            command = [sys.executable, "-m", "kedge", *words]
            subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
        if not (here / "run" / "report.html").exists():
            raise SystemExit(f"{tree.source}: the match wrote no report")
        noted = [line.split(" ", 1) for line in out.read_text().splitlines()]
    names = {str(path): name for name, path in tree.files.items()}
    loaded, called = ({names[file] for kind, file in noted if kind == wanted} for wanted in ("loaded", "called"))
    return loaded, called


def complex_by_ruff(source: Path) -> int:
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "C901", "--output-format", "concise"]
    out = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False).stdout
    return sum("C901" in line for line in out.splitlines())


@dataclass(frozen=True)
class Passed:
    """What one default match goes through: files, those called, and import statements from room to room."""

    files: set[str]
    called: set[str]
    crossings: Counter[tuple[str, str]]


def follow(tree: Tree) -> Passed:
    loaded, called = watch_match(tree)
    other_commands = {name for name in loaded if name.startswith("kedge.cli.") and name not in called}
    whole = loaded - other_commands - {"kedge.__main__"}
    crossings: Counter[tuple[str, str]] = Counter()
    for name in whole:
        for statement in tree.statements(name):
            other = sorted({room(imported) for imported in statement} - {room(name)})
            crossings.update([(room(name), other[0])] if other else [])
    return Passed(whole - {"kedge"}, called, crossings)


def figures(tree: Tree, passed: Passed) -> dict[str, int]:
    functions = list(tree.functions())
    return {
        "files that a default `kedge match` passes": len(passed.files),
        "of these, with a function called": len(passed.called & passed.files),
        "rooms they stand in": len({room(name) for name in passed.files}),
        "folders they stand in": len({tree.files[name].parent for name in passed.files}),
        "crossings between rooms": passed.crossings.total(),
        "modules with one importer": len(tree.with_one_importer()),
        "functions over complexity 10": sum(complexity(function) > 10 for function in functions),
        "functions over complexity 10 by ruff (C901)": complex_by_ruff(tree.source),
        "functions over five arguments": sum(arguments(function) > 5 for function in functions),
        "files of src": len(tree.files),
        "lines of src": sum(len(path.read_text().splitlines()) for path in tree.files.values()),
        "lines of code of src": tree.lines_of_code(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, nargs="?", default=ROOT)
    parser.add_argument("--before", type=Path, metavar="OTHER_TREE", help="a first column for comparison")
    parser.add_argument("--details", action="store_true", help="also the crossings and the modules of the last tree")
    options = parser.parse_args()
    trees = {"before": options.before, "now": options.tree} if options.before else {"now": options.tree}
    table = {}
    for title, path in trees.items():
        tree = Tree(path.resolve() / "src")
        passed = follow(tree)
        table[title] = figures(tree, passed)
    print("| | " + " | ".join(table) + (" | change |" if options.before else " |"))
    print("|---|" + "---:|" * (len(table) + bool(options.before)))
    for name, now in table["now"].items():
        cells = [f"{column[name]:,}" for column in table.values()]
        if options.before:
            cells.append(f"{100 * (now / table['before'][name] - 1):+.0f} %")
        print(f"| {name} | " + " | ".join(cells) + " |")
    if options.details:
        print("\n" + "\n".join(f"{n:3} {here} -> {there}" for (here, there), n in passed.crossings.most_common()))
        print("\n" + "\n".join(f"{name} <- {user}" for name, user in sorted(tree.with_one_importer().items())))


if __name__ == "__main__":
    main()
