"""The model card of a file of vectors: data, settings, training, weights of the levels, limits, versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from kedge import __version__
from kedge.config import PRESETS, Config, differences, resolve
from kedge.store import hash_file, library_versions

_LIMITS: Final = (
    "Vectors come from edges alone: near vectors mean a similar place in the network, not the same person. A cosine is "
    "no probability; `kedge match` estimates those.",
    "An account without edges has a vector of zeros.",
    "Vectors of two files are comparable only where both networks were embedded together. Another seed, another "
    "setting or one more edge gives another space.",
    "Ids are in the file: treat it as personal data.",
)
_ONE_SPACE: Final = (
    "The two networks are in one space by their anchors, whose own vectors are nearer than those of other true pairs: "
    "measure on pairs that were not given."
)


def model_card(
    inputs: Mapping[str, Path], networks: Sequence[Mapping[str, Any]], config: Config, preset: str, vectors: Path
) -> dict[str, Any]:
    """The card as plain data; `networks` has one record for each, with its accounts, edges and training."""
    usual = resolve(preset if preset in PRESETS else "default")
    return {
        "model": "MGCN (Chen et al., KDD 2020)",
        "file": vectors.name,
        "data": {name: hash_file(path) for name, path in inputs.items() if path.is_file()},
        "networks": [dict(network) for network in networks],
        "preset": preset,
        "changed": differences(usual.identity(), config.identity()),
        "settings": {name: value for name, value in config.identity().items() if name in _SECTIONS},
        "limits": [*_LIMITS, *([_ONE_SPACE] if len(networks) > 1 else [])],
        "versions": {"kedge": __version__, **library_versions()},
    }


_SECTIONS: Final = ("seed", "mgcn", "hypergraph", "partition", "pairing")


def as_markdown(card: Mapping[str, Any]) -> str:
    """The card for people."""
    lines = [f"# {card['file']}", "", f"Model: {card['model']}, preset `{card['preset']}`.", "", "## Data", ""]
    lines += ["| input | file | bytes | SHA-256 |", "|---|---|---|---|"]
    for name, held in card["data"].items():
        lines.append(f"| {name} | {_cell(held['name'])} | {held['bytes']:,} | `{held['sha256']}` |")
    for network in card["networks"]:
        lines += ["", f"## {network['name'].capitalize()}", ""]
        lines += [
            f"- {label}: {_shown(network[key])}"
            for key, label in _FACTS.items()
            if network.get(key) not in (None, [], 0)
        ]
        lines += _trials(network["builders"]) if network.get("builders") else []
    lines += ["", "## Settings", "", *(f"- `{line}`" for line in card["changed"] or ["as the preset has them"])]
    lines += ["", "## Limits", "", *(f"- {line}" for line in card["limits"]), "", "## Versions", ""]
    lines += [f"- {name} {version}" for name, version in card["versions"].items()]
    return "\n".join(lines) + "\n"


_FACTS: Final[Mapping[str, str]] = {
    "accounts": "accounts",
    "edges": "edges",
    "dimensions": "dimensions",
    "parts": "parts",
    "steps": "training steps",
    "loss": "loss at five steps, evenly spaced",
    "trivial_loss": "loss of equal vectors",
    "held_out_auc": "AUC on held-out edges",
    "levels": "passed on by the simple and the hypergraph level",
    "hyperedges": "hyperedges",
}


def _trials(choice: Mapping[str, Any]) -> list[str]:
    """How builders of hyperedges were chosen, as a table."""
    lines = [f"- hyperedges: `{choice['chosen']}`, chosen by {choice['by']} on {_cell(choice['on'])}", ""]
    lines += [f"| builders | {choice['by']} |", "|---|---|"]
    for one in choice["trials"]:
        figure = f"refused: {_cell(one['note'])}" if one["figure"] is None else f"{one['figure']:.4f}"
        lines.append(f"| `{one['builders']}` | {figure} |")
    return lines


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_shown(one) for one in value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}" if isinstance(value, float) else _cell(str(value))


def _cell(text: str) -> str:
    """A name from outside, as a table may show it."""
    return "".join(c if c.isprintable() and c not in "|`<>" else "?" for c in text)
