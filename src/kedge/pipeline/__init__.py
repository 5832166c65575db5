"""From files to matches and back: the only room that names every stage.

`embed` (it loads torch), `explain` and `purge` are reached directly.
"""

from kedge.pipeline.again import decide_again
from kedge.pipeline.audit import audit_run, draw_sample, sample_table, save_answers
from kedge.pipeline.crosswalk import load_crosswalk, with_fields
from kedge.pipeline.evaluate import evaluate_run
from kedge.pipeline.inputs import Inputs, count_refinements, fitting_places, profiles_for
from kedge.pipeline.match import check_report_path, match_in_memory, match_to_run, write_report
from kedge.pipeline.model_card import as_markdown, model_card
from kedge.pipeline.profiles import check_profiles, note_fields
from kedge.pipeline.solve import MemoryRun, Outcome, load_outcome, load_table, measure, solve
from kedge.pipeline.suspects import examine_anchors, suspect_table
