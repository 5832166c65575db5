"""What each field of the profiles is, and what it is worth."""

from __future__ import annotations

from kedge.profiles import FittedFields
from kedge.report.blocks import data_table, percent
from kedge.report.markup import Child, Markup, name_of, tag


def field_card(fitted: FittedFields) -> Markup:
    """One row for each compared field; no value of a profile is in it."""
    rows: list[tuple[Child, ...]] = [
        (
            tag("span", name_of(row["name"] if row["name"] == row["right"] else f"{row['name']} ~ {row['right']}")),
            row["kind"],
            percent(row["filled_left"]),
            percent(row["filled_right"]),
            f"{row['distinct']:,}",
            percent(row["agreement"]),
            percent(row["chance"]),
            f"{row['equal']:+.2f}",
            f"{row['different']:+.2f}",
        )
        for row in fitted.as_rows()
    ]
    heads = (
        "field",
        "kind",
        "filled left",
        "filled right",
        "distinct",
        "agreement on anchors",
        "by chance",
        "equal counts",
        "different counts",
    )
    table = data_table(heads, rows, "Fields of the profiles")
    counted = (
        "Profiles count nothing here: validation anchors prefer structure alone."
        if fitted.scale == 0
        else f"Profiles count {fitted.scale:g} times what is estimated, as validation anchors or the settings ask."
        if fitted.scale != 1
        else "Log-odds that a field adds to a pair; equal values of usual frequency, rarer ones count more."
    )
    return tag("div", tag("div", table, class_="wide"), tag("p", counted, class_="under after"), class_="card")
