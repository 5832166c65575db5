"""The report: a pure function from a run's contents to one self-contained HTML page, and its figures as files."""

from kedge.report.blocks import Figure
from kedge.report.explained import explanation_svg
from kedge.report.page import build_report, report_figures
from kedge.report.standalone import standalone_size, standalone_svg
from kedge.report.tables import (
    check_tables,
    cost_sentence,
    link_html,
    metric_tables,
    paragraph_html,
    progress_html,
    table_html,
)
