"""The options that several commands share, and the guard that makes one line and an exit code of an error."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import typer

from kedge.cli.help_text import completing, method_names
from kedge.cli.start import drop_output, write_line
from kedge.errors import KedgeError

F = TypeVar("F", bound=Callable[..., None])

Left = Annotated[
    Path,
    typer.Argument(
        help="The left network: text, Parquet, JSON, GraphML, ...; - is stdin, FILE::TABLE a table of a database."
    ),
]
Right = Annotated[Path, typer.Argument(help="The right network.")]
_ANCHORS = "Known pairs: one left id and right id per line. Profiles may take their place."
Anchors = Annotated[Path | None, typer.Option("--anchors", "-a", help=_ANCHORS)]
RunDirectory = Annotated[Path, typer.Argument(metavar="RUN", help="A run directory, as `kedge match -o` makes it.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes.")]
JsonProgress = Annotated[
    bool, typer.Option("--json-progress", help="Progress, notes and errors as JSON, one object per line of stderr.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what is there.")]
Raw = Annotated[
    bool, typer.Option("--raw", help="CSV: ids exactly as they are, also those that a spreadsheet runs as formulas.")
]
Seed = Annotated[int | None, typer.Option("--seed", help="The seed of all randomness.")]
Preset = Annotated[
    str,
    typer.Option(
        "--preset",
        help="The settings to start from: default or paper.",
        autocompletion=completing(["default", "paper"]),
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        help=f"The method that scores pairs, kedge by default: {', '.join(method_names())}; "
        "`kedge compare --list` has what they are.",
        autocompletion=completing(method_names),
    ),
]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="A TOML file of settings.")]
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="What trains the parts of large networks: serial, processes or dask.",
        autocompletion=completing(["serial", "processes", "dask"]),
    ),
]
Address = Annotated[str | None, typer.Option("--address", help="The Dask scheduler, e.g. tcp://host:8786.")]
TlsCa = Annotated[
    str | None, typer.Option("--tls-ca", metavar="FILE", help="Dask by TLS: the authority's certificate.")
]
TlsCert = Annotated[str | None, typer.Option("--tls-cert", metavar="FILE", help="Dask by TLS: your own certificate.")]
TlsKey = Annotated[
    str | None, typer.Option("--tls-key", metavar="FILE", help="Dask by TLS: the key of your certificate.")
]
Workers = Annotated[int | None, typer.Option("--workers", help="Worker processes; 0: one per core.")]
MaxMemory = Annotated[
    str | None, typer.Option("--max-memory", metavar="SIZE", help="Train within this memory, e.g. 4GB or 800MB.")
]
MaxInputMemory = Annotated[
    str | None,
    typer.Option("--max-input-memory", metavar="SIZE", help="Refuse an input that takes more memory, e.g. 4GB."),
]
_COLUMNS: Final = "by name or number from 1"
Columns = Annotated[
    str | None,
    typer.Option("--columns", metavar="SOURCE,TARGET[,WEIGHT]", help=f"The columns of a network, {_COLUMNS}."),
]
LeftColumns = Annotated[
    str | None, typer.Option("--left-columns", metavar="COLUMNS", help="The same for the left network alone.")
]
RightColumns = Annotated[
    str | None, typer.Option("--right-columns", metavar="COLUMNS", help="The same for the right network alone.")
]
AnchorColumns = Annotated[
    str | None,
    typer.Option("--anchor-columns", metavar="LEFT,RIGHT", help=f"The columns of anchors and test pairs, {_COLUMNS}."),
]
_KNOWN: Final = (
    "What else is known of the {} accounts: text, Parquet, JSON or FILE::TABLE, with ids and any other columns."
)
LeftProfiles = Annotated[Path | None, typer.Option("--left-profiles", metavar="FILE", help=_KNOWN.format("left"))]
RightProfiles = Annotated[Path | None, typer.Option("--right-profiles", metavar="FILE", help=_KNOWN.format("right"))]
SkipBadRows = Annotated[
    bool, typer.Option("--skip-bad-rows", help="Skip rows that cannot be read; their number and lines are shown.")
]
Compare = Annotated[
    list[str] | None,
    typer.Option(
        "--compare", metavar="LEFT~RIGHT:KIND", help="Two columns of profiles, repeatable: handle~screen_name:handle."
    ),
]
Set = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="One setting, repeatable; see `kedge config`.")
]

Counterparts = Annotated[
    str | None,
    typer.Option(
        "--counterparts",
        metavar="SHARE|LOW-HIGH",
        help="Share of left accounts without a known partner that have a counterpart, if you know it: 0.5, 0.4-0.6.",
    ),
]

_UNITS: Final = {"": 1e-6, "K": 1e-3, "M": 1.0, "G": 1e3, "T": 1e6}


def engine_settings(
    engine: str | None,
    address: str | None,
    tls: tuple[str | None, str | None, str | None],
    workers: int | None,
    max_memory: str | None,
) -> dict[str, Any]:
    """The engine's options as settings; an address alone selects Dask."""
    given = {
        "engine.name": "dask" if engine is None and address is not None else engine,
        "engine.address": address,
        **dict(zip(("engine.tls_ca", "engine.tls_cert", "engine.tls_key"), tls, strict=True)),
        "engine.workers": workers,
        "engine.max_memory_mb": None if max_memory is None else _megabytes("--max-memory", max_memory),
    }
    return {name: value for name, value in given.items() if value is not None}


def profile_settings(compare: list[str] | None) -> dict[str, Any]:
    """The comparisons of profiles as settings."""
    return {"profiles.compare": tuple(compare)} if compare else {}


def read_settings(
    max_input_memory: str | None = None,
    columns: str | None = None,
    left_columns: str | None = None,
    right_columns: str | None = None,
    anchor_columns: str | None = None,
    skip_bad_rows: bool = False,
) -> dict[str, Any]:
    """The options of reading as settings."""
    given = {
        "read.bad_rows": "skip" if skip_bad_rows else None,
        "read.max_memory_mb": None if max_input_memory is None else _megabytes("--max-input-memory", max_input_memory),
        "read.columns": columns,
        "read.left_columns": left_columns,
        "read.right_columns": right_columns,
        "read.anchor_columns": anchor_columns,
    }
    return {name: value for name, value in given.items() if value is not None}


def _megabytes(option: str, size: str) -> float:
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?\s*", size.upper())
    megabytes = 0.0 if found is None else float(found[1]) * _UNITS[found[2]]
    if megabytes < 1:
        raise KedgeError(f"{option} {size!r} is not a size of at least one megabyte", remedy="write e.g. 4GB or 800MB")
    return megabytes


def guarded(command: F) -> F:
    """Errors as one line on stderr; exit code 2 for a user's mistake, 130 for ^C, 1 for a defect of kedge."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        from kedge.context.compiled import ensure_compile_cache

        ensure_compile_cache()
        signal.signal(signal.SIGTERM, _terminate)
        usual = sys.unraisablehook
        sys.unraisablehook = functools.partial(_raise_again, usual)
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except KedgeError as error:
            _fail(f"kedge: {error}", 2, kwargs)
        except KeyboardInterrupt:
            _fail("kedge: interrupted; the same command resumes where it stopped", 130, kwargs)
        except BrokenPipeError:
            # The reader of stdout has closed it (`| head`): no error, and no more output.
            drop_output(sys.stdout)
            raise typer.Exit(0) from None
        except OSError as error:
            # Of files kedge knows more to say; what comes here is mostly a full disk behind stdout.
            place = "" if error.filename is None else f"{error.filename}: "
            with contextlib.suppress(OSError, ValueError):
                drop_output(sys.stdout)
            _fail(f"kedge: {place}{error.strerror or error}", 2, kwargs)
        except MemoryError:
            remedy = "see `kedge check` for an estimate, or match without embeddings: --set pairing.use=no"
            _fail(f"kedge: out of memory; {remedy}", 1, kwargs)
        except Exception as error:
            if isinstance(error, typer.Exit):
                raise
            words = " ".join(str(error).split())
            _fail(f"kedge: defect: {type(error).__name__}: {words} (--debug shows more)", 1, kwargs)
        finally:
            sys.unraisablehook = usual

    return run  # type: ignore[return-value]


def _fail(line: str, code: int, kwargs: dict[str, Any]) -> None:
    if kwargs.get("debug"):
        import traceback

        traceback.print_exc()
    if kwargs.get("json_progress"):
        from kedge.cli.progress import json_event

        line = json_event("error", text=line.removeprefix("kedge: "), code=code)
    write_line(line)
    raise typer.Exit(code) from None


def _terminate(_signal: int, _frame: object) -> None:
    # As an exception, so that temporary files are removed and the lock is released.
    raise SystemExit(143)


def _raise_again(usual: Callable[[Any], Any], lost: Any) -> None:
    """Send a signal again that came where Python cannot raise (in a destructor, a callback of a library)."""
    signals = {KeyboardInterrupt: signal.SIGINT, SystemExit: signal.SIGTERM}
    if lost.exc_type not in signals:
        usual(lost)
        return
    later = threading.Timer(0.05, os.kill, (os.getpid(), signals[lost.exc_type]))
    later.daemon = True
    later.start()
