"""`kedge doctor`: what kedge runs on."""

from __future__ import annotations

from kedge.cli.options import Debug, Json, guarded
from kedge.cli.show import print_json, print_table


@guarded
def doctor(json: Json = False, debug: Debug = False) -> None:  # noqa: ARG001 (read by the guard)
    """Print versions, cores, memory, threads, and which optional parts are installed."""
    from kedge.context import describe_installation

    facts = describe_installation()
    if json:
        print_json(facts)
        return
    rows = [(name, str(value)) for name, value in facts.items() if not isinstance(value, dict)]
    rows += [(f"library {name}", version) for name, version in facts["libraries"].items()]
    rows += [
        (f"extra {name}", "installed" if there else f"not installed: pip install 'kedge[{name}]'")
        for name, there in facts["extras"].items()
    ]
    print_table("kedge doctor", ("", ""), rows, left=2)
