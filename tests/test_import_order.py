"""Data flows one way: a module may import only from those that come before it."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "kedge"

ORDER = [
    "errors",
    "types",
    "context",
    "linalg",
    "config",
    "answers",
    "ingest",
    "synthetic",
    "engine",
    "partition",
    "hypergraph",
    "mgcn",
    "embedding",
    "similarity",
    "profiles",
    "evidence",
    "probability",
    "decide",
    "methods",
    "evaluation",
    "store",
    "report",
    "pipeline",
    "experiments",
    "review",
    "api",
    "cli",
]


def _room(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[0]


def _imports(path: Path) -> list[tuple[int, str]]:
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "kedge":
            rest = node.module.split(".")[1:]
            found += [(node.lineno, rest[0])] if rest else [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [
                (node.lineno, alias.name.split(".")[1]) for alias in node.names if alias.name.startswith("kedge.")
            ]
        if isinstance(node, ast.ImportFrom) and node.level:
            found.append((node.lineno, "(relative)"))
    return found


def _modules() -> list[Path]:
    return [
        path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__main__.py" and path != PACKAGE / "__init__.py"
    ]


def test_every_module_has_its_place_in_the_order() -> None:
    assert {_room(path) for path in _modules()} <= set(ORDER)


def test_no_module_imports_from_a_later_one() -> None:
    upward = [
        f"{path.relative_to(PACKAGE)}:{line} imports {room}"
        for path in _modules()
        for line, room in _imports(path)
        if room != "__version__" and (room not in ORDER or ORDER.index(room) > ORDER.index(_room(path)))
    ]
    assert upward == []


# Rooms whose `__init__` names all that others use. Modules that load much, or that the command line needs before
# anything is loaded, are reached directly.
DOORS = ["answers", "config", "context", "decide", "evaluation", "evidence", "experiments", "ingest", "linalg"]
DOORS += ["pipeline", "probability", "profiles", "report", "similarity", "store", "synthetic", "types"]
DIRECT = ["answers.learn", "context.compiled", "context.extras", "decide.explanation", "decide.steps", "linalg.assign"]
DIRECT += [
    "linalg.spmm",
    "pipeline.embed",
    "pipeline.explain",
    "pipeline.planted",
    "pipeline.pseudonymise",
    "pipeline.purge",
    "pipeline.vector_files",
    "report.chromium",
    "similarity.pair_network",
    "store.decisions",
]


def _inside(path: Path) -> list[str]:
    """Modules inside of other rooms that have a door."""
    named = [
        node.module.removeprefix("kedge.")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("kedge.")
    ]
    rooms = {name: name.partition(".")[0] for name in named if "." in name}
    return [name for name, room in rooms.items() if room in DOORS and room != _room(path) and name not in DIRECT]


def test_a_room_is_entered_by_its_door() -> None:
    found = {str(path.relative_to(PACKAGE)): _inside(path) for path in _modules()}
    assert {file: names for file, names in found.items() if names} == {}
