"""What reviewers decided in a run directory, as an object."""

from __future__ import annotations

from pathlib import Path

from kedge.api.objects import as_path
from kedge.api.wording import worded
from kedge.pipeline import Decided, check_head, load_decisions, write_pairs
from kedge.types import KedgeError


class Decisions:
    """The decisions of a run's reviewers: `confirmed`, `rejected` and `disputed` pairs of ids; `len` is the number of
    entries in the log, `head` its newest checksum. Save the head elsewhere: `verify(head)` finds it again."""

    def __init__(self, directory: Path, found: Decided) -> None:
        self._directory, self._found = directory, found
        self.confirmed, self.rejected, self.disputed = found.confirmed, found.rejected, found.disputed
        self.head = found.head

    def __len__(self) -> int:
        return self._found.entries

    @worded
    def verify(self, head: str | None = None) -> int:
        """Verify that no entry was changed, cut or replaced; how many came after `head`, or how many there are."""
        if head is not None:
            check_head(head)
        found = load_decisions(self._directory, head)
        if found is None:
            return 0
        return found.entries if head is None else found.after

    @worded
    def export(
        self,
        confirmed: str | Path | None = None,
        rejected: str | Path | None = None,
        *,
        raw: bool = False,
        force: bool = False,
    ) -> tuple[Path, ...]:
        """Write confirmed and rejected pairs, as .tsv or .csv that `kedge.match` reads as anchors; the files."""
        asked = (("confirmed", confirmed, self.confirmed), ("rejected", rejected, self.rejected))
        wanted = {as_path(place, name): pairs for name, place, pairs in asked if place is not None}
        if not wanted:
            raise KedgeError("export needs a file", remedy='give confirmed="confirmed.tsv" or rejected=')
        write_pairs(wanted, raw=raw, force=force)
        return tuple(wanted)

    def __repr__(self) -> str:
        counts = ", ".join(f"{count:,} {name}" for name, count in self._found.counts().items())
        return f"<kedge decisions: {len(self):,} entries; {counts}>"


def read_all(directory: Path) -> Decisions:
    """The decisions of a run; empty where there are none yet."""
    return Decisions(directory, load_decisions(directory) or Decided())
