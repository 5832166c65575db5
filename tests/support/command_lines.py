"""Command lines that cannot be meant: each is one line on stderr and exit code 2, with nothing written.

{run} is a finished run, {data} a planted pair, {new} a name that is not there yet, {dir} a directory.
"""

from __future__ import annotations

import contextlib
import io
import shlex
from pathlib import Path

from kedge.cli import main

_PAIR = "{data}/left.tsv {data}/right.tsv -a {data}/train.tsv"
_HUGE = "9" * 30

BAD = f"""
nonsense
--nonsense
-x
match
match {{data}}/left.tsv
match {{data}}/left.tsv {{data}}/right.tsv
match {_PAIR}
match {_PAIR} -o
match {_PAIR} -o {{new}} --nonsense
match {_PAIR} -o {{new}} extra
match {_PAIR} -q -o {{new}} --method nonsense
match {_PAIR} -q -o {{new}} --preset nonsense
match {_PAIR} -q -o {{new}} --seed 1.5
match {_PAIR} -q -o {{new}} --seed -1
match {_PAIR} -q -o {{new}} --seed {_HUGE}
match {_PAIR} -q -o {{new}} --seed 1e5
match {_PAIR} -q -o {{new}} --set nonsense
match {_PAIR} -q -o {{new}} --set nonsense=1
match {_PAIR} -q -o {{new}} --set =
match {_PAIR} -q -o {{new}} --set evidence=1
match {_PAIR} -q -o {{new}} --config {{new}}
match {_PAIR} -q -o {{new}} --config {{dir}}
match {_PAIR} -q -o {{new}} --workers -1
match {_PAIR} -q -o {{new}} --workers two
match {_PAIR} -q -o {{new}} --max-memory nonsense
match {_PAIR} -q -o {{new}} --max-memory 0
match {_PAIR} -q -o {{new}} --max-memory -4GB
match {_PAIR} -q -o {{new}} --engine nonsense
match {_PAIR} -q -o {{new}} --engine dask
match {_PAIR} -q -o {{new}} --address garbage://x
match {_PAIR} -q -o {{new}} --address tls://host:1
match {_PAIR} -q -o {{new}} --address tls://host:1 --tls-ca {{new}}
match {_PAIR} -q -o {{new}} --left-hypergraph {{new}}
match {_PAIR} -q -o {{new}} --test {{new}}
match {{new}} {{data}}/right.tsv -a {{data}}/train.tsv -q -o {{new}}
match {{dir}} {{data}}/right.tsv -a {{data}}/train.tsv -q -o {{new}}
match {{data}}/left.tsv {{data}}/right.tsv -a {{new}} -q -o {{new}}
match {{data}}/left.tsv {{data}}/right.tsv -a '' -q -o {{new}}
check
check {{new}} {{new}} -q
check {{data}}/left.tsv {{data}}/right.tsv -q --set decide.folds=many
decide {{run}}
decide {{run}} --precision 0
decide {{run}} --precision 1.1
decide {{run}} --precision nan
decide {{run}} --precision most
decide {{run}} --threshold -0.1
decide {{run}} --threshold 1.01
decide {{run}} --threshold inf
decide {{run}} --precision 0.9 --threshold 0.5
decide {{run}} --one-to-one maybe
decide {{dir}} --threshold 0.5
decide {{new}} --threshold 0.5
evaluate {{run}}
evaluate {{run}} --test {{new}}
evaluate {{new}} --test {{data}}/test.tsv
report {{new}}
report {{run}} --format gif
explain {{run}} a
explain {{run}} nonsense nonsense
explain {{run}} '' ''
explain {{run}} \\udcff b
explain {{run}} a b --plot {{new}}.gif
explain {{new}} a b
export {{run}}
export {{run}} -o {{new}}
export {{run}} -o {{new}}.xls
export {{run}} -o {{new}}.csv --format xml
export {{run}} -o {{new}}.csv -k 0
export {{run}} -o {{new}}.csv -k -1
export {{run}} -o {{new}}.csv -k 1e30
export {{run}} -o {{new}}.csv -k {_HUGE}
export {{run}} -o {{new}}.csv -k nan
export {{run}} -o {{new}}.csv -k ''
export {{run}} -o {{new}}\\udcff.csv -k 0x10
export {{dir}} -o {{new}}.csv
export {{new}} -o {{new}}.csv
export {{run}} -o {{new}}/deep/x.csv
export {{run}} -o {{new}}.csv --all -k 2
export {{run}} -o {{new}}.csv --all --matches-only
export {{run}} -o - --json
decisions {{run}}
decisions {{run}} burn
decisions {{run}} verify
decisions {{new}} verify
purge {{run}}
purge --yes {{run}} nonsense
purge --yes {{run}} \\udcff
purge --yes {{run}} nonsense --side above
purge --yes {{new}} x
review {{run}} --port 70000
review {{run}} --port -1
review {{run}} --port http
review {{run}} --reviewer ''
review {{new}}
embed
embed {{data}}/left.tsv
embed {{data}}/left.tsv -o {{new}}
embed {{new}} -o {{new}}.npz -q
embed {{data}}/left.tsv -o {{new}}.npz -q --address x
synth
synth -o {{data}}
synth -o {{new}} -q --nodes -1
synth -o {{new}} -q --nodes {_HUGE}
synth -o {{new}} -q --nodes 1e3
synth -o {{new}} -q --overlap 7
synth -o {{new}} -q --overlap nan
synth -o {{new}} -q --nodes 50 --anchors 70
synth -o {{new}} -q --format xml
synth -o {{new}} -q --train 2
compare
compare {{data}}/left.tsv
compare --data {{new}}
compare {_PAIR} -m nonsense -q
compare {_PAIR} -m kedge --seeds 0 -q
compare {_PAIR} -m kedge --train 1.5 -q
compare {_PAIR} -m kedge --train nan -q
compare {_PAIR} -m kedge --workers -2 -q
compare {_PAIR} -m kedge --plot {{new}}.gif -q
compare {_PAIR} -m kedge --split off20 -q
reproduce
reproduce nonsense
reproduce main --seeds 0
reproduce main --points nonsense
config --preset nonsense
config --set seed=1e400
config --seed nonsense
config --config {{data}}/left.tsv
doctor nonsense
demo -o {{data}}/left.tsv -q
demo --seed nonsense
demo --seed -1 -q -o {{new}}
""".strip().splitlines()


def run(line: str, places: dict[str, str]) -> tuple[int, str, str]:
    """A command line in this process: exit code, stdout and stderr. `\\udcff` in it is a byte that is not UTF-8."""
    words = [word.format(**places).replace("\\udcff", "\udcff") for word in shlex.split(line.replace("\\", "\\\\"))]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
        except SystemExit as end:
            return int(end.code or 0), out.getvalue(), err.getvalue()
    raise AssertionError("main does not return")


def places(folder: Path, data: Path, run: Path) -> dict[str, str]:
    """What stands for the names in braces."""
    (folder / "dir").mkdir()
    return {"run": str(run), "data": str(data), "new": str(folder / "new"), "dir": str(folder / "dir")}


def is_one_line(result: tuple[int, str, str]) -> bool:
    """Exit code 2, and one line that names the mistake."""
    code, _, err = result
    return code == 2 and err.startswith("kedge: ") and err.count("\n") == 1 and "defect" not in err
