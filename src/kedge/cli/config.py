"""`kedge config`: every setting, with its help."""

from __future__ import annotations

from kedge.cli.options import ConfigFile, Debug, Json, Preset, Seed, Set, guarded
from kedge.cli.show import print_json


@guarded
def config(
    preset: Preset = "default",
    file: ConfigFile = None,
    assignments: Set = None,
    seed: Seed = None,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Print the resolved configuration as TOML, with one line of help per setting."""
    from kedge.config import resolve, to_toml

    resolved = resolve(preset, file, assignments or (), {} if seed is None else {"seed": seed})
    if json:
        print_json(resolved.model_dump())
    else:
        print(to_toml(resolved), end="")
