"""From files to matches and back: the only room that names every stage.

`embed` and `vector_files` (they load torch), `explain`, `planted`, `pseudonymise` and `purge` are reached directly.
"""

from kedge.pipeline.again import decide_again, decision_change
from kedge.pipeline.audit import (
    answering_reviewer,
    audit_run,
    draw_sample,
    dump_sample,
    sample_table,
    save_answers,
    write_sample,
)
from kedge.pipeline.check import check_inputs
from kedge.pipeline.crosswalk import crosswalk_of, load_crosswalk, with_fields
from kedge.pipeline.decisions import Decided, check_head, load_decisions, write_pairs
from kedge.pipeline.evaluate import evaluate_outcome, evaluate_run
from kedge.pipeline.export import (
    Selection,
    candidate_rows,
    check_candidates,
    check_export,
    decided_only,
    dump_table,
    export_table,
    guard_export,
    load_export,
)
from kedge.pipeline.figures import check_figure_format, write_figures
from kedge.pipeline.identity import OBJECT
from kedge.pipeline.inputs import Inputs, count_refinements, estimate_cost, profiles_for
from kedge.pipeline.match import check_report_path, match_in_memory, match_to_run, write_report
from kedge.pipeline.model_card import as_markdown, model_card
from kedge.pipeline.profiles import check_profiles, note_fields
from kedge.pipeline.results import decided
from kedge.pipeline.solve import MemoryRun, Outcome, load_outcome, load_table, measure, solve, table_of
from kedge.pipeline.suspects import examine_anchors, suspect_table
