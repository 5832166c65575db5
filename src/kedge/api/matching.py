"""Two networks matched from Python, and runs that were matched before."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kedge.api.backing import Held, Saved
from kedge.api.explained import Explained
from kedge.api.objects import as_path, as_settings, as_source, one_id, two_sides
from kedge.api.progress import progress_of
from kedge.api.run import Run
from kedge.api.wording import in_python, worded
from kedge.config import Config, checked_share, resolve
from kedge.context import Noting, Progress
from kedge.pipeline import Inputs, Outcome, match_in_memory, match_to_run
from kedge.pipeline.explain import explain_pair
from kedge.pipeline.planted import plant_demo


@worded
def match(
    left: Any,
    right: Any,
    anchors: Any = None,
    *,
    out: str | Path | None = None,
    method: str | None = None,
    profiles: tuple[Any, Any] | None = None,
    left_profiles: Any = None,
    right_profiles: Any = None,
    hypergraphs: tuple[Any, Any] | None = None,
    left_hypergraph: Any = None,
    right_hypergraph: Any = None,
    test: Any = None,
    precision: float | None = None,
    counterparts: str | None = None,
    preset: str = "default",
    config: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
    force: bool = False,
    progress: bool | Progress | None = None,
) -> Run:
    """Match two networks given some known pairs, or profiles, or both.

    left, right: a path, a data frame, a graph (NetworkX, igraph, PyG), a sparse matrix or pairs of ids. Ids are text:
    7 and "7" are the same account.
    anchors: known (left id, right id) pairs: a path, a frame, a dict or a list; None where profiles have to do.
    out: the run directory, as `kedge match -o` writes and resumes it; None: in memory, and nothing is saved.
    method: one of `kedge.list_methods()`.
    profiles: what else is known of the accounts, (left, right), each a path or a frame with a column of ids; or by
    left_profiles and right_profiles.
    hypergraphs: hyperedges of one's own in place of the built ones, (left, right), as for `embed`, for methods that
    look at any; or by left_hypergraph and right_hypergraph.
    test: held-out pairs, used for `run.metrics` alone.
    precision: the share of the matches that are to be right. counterparts: the share of left accounts that have a
    counterpart, if it is known, "0.6" or "0.5-0.7".
    settings: by their names in `kedge config`, e.g. `{"read.columns": "caller,callee"}`; config: a TOML file of them.
    force: start anew in a directory that has another run.
    progress: True shows it, as a bar in a notebook and as lines on stderr elsewhere.

    Anchors that do not fit are a warning, and no match. `.notes` of the result has what `kedge match` prints to stderr.

    >>> import kedge
    >>> pair = kedge.synth(nodes=150, overlap=0.85, train=0.3, seed=3)
    >>> run = kedge.match(pair.left, pair.right, pair.train, test=pair.test)
    >>> run.matches[pair.train["left"][0].as_py()].decision
    'known'
    """
    given: dict[str, Any] = as_settings(settings)
    named = {"method": method, "seed": seed, "decide.precision": precision}
    given |= {name: value for name, value in named.items() if value is not None}
    given |= {} if counterparts is None else {"decide.counterparts": checked_share(str(counterparts))}
    chosen = resolve(preset, None if config is None else as_path(config, "config"), (), given)
    inputs = Inputs(
        as_source(left),
        as_source(right),
        as_source(anchors),
        as_source(test),
        two_sides(hypergraphs, left_hypergraph, right_hypergraph, "hypergraphs", "hypergraph"),
        two_sides(profiles, left_profiles, right_profiles, "profiles", "profiles"),
    )
    if out is not None:
        return _to_directory(inputs, as_path(out, "out"), chosen, force, progress)
    outcome = solve_in_memory(inputs, chosen, progress_of(progress), 4)
    noted: list[str] = [*outcome.matches.notes]
    return Run(Held(outcome, _names(inputs), inputs.test, noted.append), noted)


def solve_in_memory(inputs: Inputs, config: Config, progress: Progress, depth: int = 3) -> Outcome:
    """The outcome of a match in memory; anchors that do not fit are a warning of the caller `depth` frames above."""
    outcome = match_in_memory(inputs, config, progress)
    if outcome.calibrator.misfit is not None:
        warnings.warn(in_python(outcome.calibrator.misfit), stacklevel=depth)
    return outcome


def _to_directory(inputs: Inputs, directory: Path, config: Config, force: bool, progress: Any) -> Run:
    noting = Noting(progress_of(progress))
    match_to_run(inputs, directory, config, force=force, progress=noting)
    return Run(Saved(directory), noting.notes)


def _names(inputs: Inputs) -> tuple[str, str]:
    left, right = (
        Path(source).name if isinstance(source, str | Path) else side
        for side, source in (("left", inputs.left), ("right", inputs.right))
    )
    return left, right


@worded
def open(directory: str | Path) -> Run:
    """A finished run directory, written by `kedge.match(..., out=...)` or by `kedge match`, as `match` returns it.

    Its files are verified whenever they are read.
    """
    return Run(Saved(as_path(directory, "directory")))


@worded
def demo(
    out: str | Path | None = None, *, seed: int = 0, force: bool = False, progress: bool | Progress | None = None
) -> Run:
    """Plant a pair of networks with known truth and match it: the run of `kedge demo`, in memory or in a directory."""
    with tempfile.TemporaryDirectory(prefix="kedge-demo-") as folder:
        left, right, train, test = plant_demo(Path(folder), seed)
        return match(left, right, train, test=test, out=out, seed=seed, force=force, progress=progress)


@worded
def explain(run: str | Path, left: object, right: object) -> Explained:
    """A pair of a run directory explained, as `run.explain` does."""
    return Explained(explain_pair(as_path(run, "run"), one_id(left), one_id(right)))
