"""The packages that are handed out: built, looked into, installed into a new environment, and started there.

`python .ci/package.py UV` with the path of uv. Everything is made in build/packages, from what the packages have.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACE = ROOT / "build" / "packages"
# What a source package may have at its top; what may not be in any package.
TOP = {"src", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "constraints.txt", "pyproject.toml"}
TOP |= {"PKG-INFO", ".gitignore"}
STRAY = ("__pycache__", ".pyc", ".nbi", ".nbc", ".so", "/tests/", ".DS_Store")


def run(*words: object, **more: object) -> str:
    """What a command prints; a failure ends the script with it."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return str(done.stdout)


def cpu_seconds() -> float:
    """Of all commands so far, so that a busy machine makes no difference."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def contents(wheel: Path) -> dict[str, int]:
    """The files of a wheel with their checksums."""
    with zipfile.ZipFile(wheel) as archive:
        return {one.filename: one.CRC for one in archive.infolist()}


def main(uv: str) -> None:
    """Build, look, install, start."""
    shutil.rmtree(PLACE, ignore_errors=True)
    run(uv, "build", "--quiet", ROOT, "--out-dir", PLACE)  # the wheel from the source package
    run(uv, "build", "--quiet", "--wheel", ROOT, "--out-dir", PLACE / "direct")  # the wheel from the clone
    (source,), (wheel,), (direct,) = PLACE.glob("*.tar.gz"), PLACE.glob("*.whl"), (PLACE / "direct").glob("*.whl")
    assert contents(wheel) == contents(direct), "the source package builds another wheel than the clone"

    with tarfile.open(source) as archive:
        names = [Path(*Path(name).parts[1:]) for name in archive.getnames()]
    assert {name.parts[0] for name in names} <= TOP, sorted({name.parts[0] for name in names} - TOP)
    packed = contents(wheel)
    assert not [name for name in (*packed, *map(str, names)) if any(stray in name for stray in STRAY)]
    assert {name.partition("/")[0].partition("-")[0] for name in packed} == {"kedge"}
    tracked = set(run("git", "ls-files", "src", cwd=ROOT).split())
    missing = tracked - {f"src/{name}" for name in packed}
    assert not missing, f"not in the wheel: {sorted(missing)}"
    for needed in ("kedge/py.typed", "kedge/synthetic/example_files/left.csv"):
        assert needed in packed, needed

    before = cpu_seconds()
    environment = PLACE / "environment"
    run(uv, "venv", "--quiet", "--python", sys.executable, environment)
    python = environment / "bin" / "python"
    constraints = ROOT / "constraints.txt"
    run(
        uv,
        "pip",
        "install",
        "--quiet",
        "--python",
        python,
        "-c",
        constraints,
        f"kedge[review,profiles] @ {wheel.as_uri()}",
    )
    bare = {**os.environ, "NUMBA_CACHE_DIR": str(PLACE / "numba")}
    bare.pop("PYTHONPATH", None)

    def start(*words: object) -> str:
        return run(*words, cwd=PLACE, env=bare)

    version = start(environment / "bin" / "kedge", "--version")
    assert start(python, "-m", "kedge", "--version") == version
    start(environment / "bin" / "kedge", "demo", "--files", "data")
    anchors = ("--anchors", "data/known.csv", "-o", "run", "-q")
    print(start(environment / "bin" / "kedge", "match", "data/left.csv", "data/right.csv", *anchors).partition("\n")[0])
    assert (PLACE / "run" / "report.html").stat().st_size > 10_000
    used = cpu_seconds() - before
    print(f"{used:.0f} CPU seconds from nothing installed and nothing compiled to a report (at most 120)")
    assert used < 120
    assert start(uv, "tool", "run", "--quiet", "-c", constraints, "--from", wheel, "kedge", "--version") == version
    sizes = ", ".join(f"{path.name} {path.stat().st_size / 1e3:.0f} kB" for path in (source, wheel))
    print(f"{version.strip()}: {sizes}; installed, started by its name, by python -m and by uvx")


if __name__ == "__main__":
    main(sys.argv[1])
