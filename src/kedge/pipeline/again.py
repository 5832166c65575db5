"""A finished run decided again with other settings: no matching, and all files change at once or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from kedge import store
from kedge.answers import Sample, replay
from kedge.config import checked_share
from kedge.context import one_blas_thread
from kedge.errors import as_share
from kedge.pipeline.match import check_report_path, match_notes
from kedge.pipeline.results import results, without_anchors
from kedge.pipeline.solve import load_outcome
from kedge.report import build_report
from kedge.types import KedgeError

_ASSIGNMENTS: Final = {"optimal": "optimal", "greedy": "greedy", "off": "many-to-one"}


@one_blas_thread()
def decide_again(directory: Path, change: Mapping[str, Any], note: Callable[[str], None]) -> dict[str, Any]:
    """Decide a run with other values of `decide.precision`, `threshold`, `assignment` and `counterparts`; the summary.

    Settings that are not in `change` stay; answers of an audit count from now on. The manifest keeps the settings of
    `kedge match` and notes these next to them.
    """
    store.read_manifest(directory)
    with store.hold_run(directory), store.reviewing(directory, shared=False):
        contents = store.load_contents(directory)
        check_report_path(directory / store.REPORT)
        chosen = _chosen(contents.manifest, change)
        manifest = {name: value for name, value in contents.manifest.items() if name != "decide"}
        manifest |= {"decide": chosen} if chosen else {}
        sample = answered_sample(store.open_artefacts(directory))
        outcome = load_outcome(directory, config=store.run_config(manifest), audited=False).audited(sample)
        held_out = store.load_held_out(store.open_artefacts(directory), outcome.problem)
        files = results(outcome, without_anchors(held_out, outcome.problem, note))
        if held_out is None and contents.metrics is not None:  # of a version that did not save the pairs
            note("the held-out pairs are not in this run: `kedge evaluate` measures the new decisions on them")
        table = outcome.matches.table()
        draft = store.Draft(directory)
        stages = {**manifest["stages"]}
        recorded = {**manifest["files"]}
        stages[store.MATCHES.id] |= _drafted(draft, store.MATCHES.file, store.TABLE, table)
        for file, value in files.items():
            recorded[file] = _drafted(draft, file, store.JSON, value)
        if sample is not None:
            recorded[store.AUDIT] = _drafted(draft, store.AUDIT, store.SAMPLE, sample)
        manifest |= {"stages": stages, "files": recorded}
        metrics = files[store.METRICS]
        page = replace(
            contents,
            manifest=manifest,
            config=outcome.config,
            table=table,
            threshold=outcome.matches.threshold,
            metrics=metrics if metrics["test_pairs"] else None,
            evaluation=files[store.EVALUATION],
            audit=outcome.audit,
            counterparts=files[store.DECIDED]["counterparts"],
        )
        draft.write(store.REPORT, store.TEXT, build_report(page))
        draft.write(store.MANIFEST, store.JSON, store.seal(manifest))
        draft.commit()
    if sample is not None and any(sample.answer):
        note(f"decided with {sum(word in ('yes', 'no') for word in sample.answer):,} answers of the audit")
    for line in match_notes(outcome.matches):
        note(line)
    settings = {
        name: getattr(outcome.config.decide, name) for name in ("precision", "threshold", "assignment", "counterparts")
    }
    return {"run": str(directory), "settings": settings, **files[store.DECIDED], "metrics": metrics}


def decision_change(
    precision: float | None, threshold: float | None, one_to_one: str | None, counterparts: str | None
) -> dict[str, Any]:
    """The settings of `decide` that the options change; refuses what is no decision, before any work."""
    if precision is not None and threshold is not None:
        raise KedgeError("--precision and --threshold are both given", remedy="give one: either chooses the matches")
    if precision is None and threshold is None and one_to_one is None and counterparts is None:
        raise KedgeError("nothing to change", remedy="give --precision, --threshold, --one-to-one or --counterparts")
    if precision is not None and not 0 < precision <= 1:
        raise KedgeError(
            f"--precision is {precision:g}", remedy=as_share(precision, "give a share above 0 and up to 1")
        )
    if threshold is not None and not 0 <= threshold <= 1:
        raise KedgeError(f"--threshold is {threshold:g}", remedy=as_share(threshold, "give a probability from 0 to 1"))
    if one_to_one is not None and one_to_one not in _ASSIGNMENTS:
        raise KedgeError(f"no assignment {one_to_one!r}", remedy="choose optimal, greedy or off")
    change: dict[str, Any] = {}
    if precision is not None:
        change |= {"precision": precision, "threshold": None}
    if threshold is not None:
        change |= {"threshold": threshold}
    if one_to_one is not None:
        change |= {"assignment": _ASSIGNMENTS[one_to_one]}
    if counterparts is not None:
        change |= {"counterparts": checked_share(counterparts)}
    return change


def answered_sample(run: store.Artefacts) -> Sample | None:
    """The sample of an audit with all answers up to now; None without one."""
    sample = store.load_sample(run)
    state = store.read_decisions(run.directory)
    if sample is None or state is None:
        return sample
    given = replay(state.entries, audit=True)
    return sample.answered({pair: given.verdict(pair) for pair in sample.pairs})


def _chosen(manifest: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that differ from those of `kedge match`, after this change."""
    given = manifest["config"]["decide"]
    wanted = {**manifest.get("decide", {}), **change}
    return {name: value for name, value in wanted.items() if given[name] != value}


def _drafted(draft: store.Draft, file: str, kind: store.Format[Any], value: Any) -> dict[str, Any]:
    """Size and checksum of a file that the draft has from now on."""
    with draft.write(file, kind, value).open("rb") as opened:
        return store.fingerprint(opened)
