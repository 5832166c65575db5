"""1,000 half-open connections to `kedge review`, and a reviewer who goes on meanwhile. Goal: 95 % of the reviewer's
requests are answered within 200 ms.

Loopback only. A connection is half-open if it sends a part of a request head and then no more, or one byte at a time.
Each that the server closes is opened again, so that the attack lasts as long as the measurement.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http.client
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from measuring import ROOT
from reliability import keep
from review_speed import Review

HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


async def _half_open(host: str, port: int, number: int, end: float, counts: dict[str, int]) -> None:
    """One place of the attack: open, send a part of a head, trickle, and open again when it is closed."""
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection(host, port)
            counts["opened"] += 1
            try:
                writer.write(HEAD if number % 2 else b"")
                while time.monotonic() < end and not reader.at_eof():
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(reader.read(1), 1.0)
                    writer.write(b"x" if number % 2 else b"")
            finally:
                writer.close()
        counts["closed"] += 1
        await asyncio.sleep(1.0)


def attack(host: str, port: int, connections: int, end: float, counts: dict[str, int]) -> None:
    """All of them, until the end."""

    async def run() -> None:
        jobs = [_half_open(host, port, i, end, counts) for i in range(connections)]
        await asyncio.gather(*jobs)

    asyncio.run(run())


def measure(review: Review, seconds: float, fresh: bool) -> tuple[list[float], int]:
    """Times of requests over one lasting connection, or over a new one each; how many had to be sent again."""
    times, again, end = [], 0, time.monotonic() + seconds
    while time.monotonic() < end:
        started = time.perf_counter()
        if fresh:
            review.connection.close()
        try:
            answer, body = review.ask("GET", "/api/next")
        except (OSError, http.client.HTTPException):  # closed while it waited: a browser asks again
            again += 1
            review.connection.close()
            answer, body = review.ask("GET", "/api/next")
        assert answer.status == 200
        assert json.loads(body)["pair"]
        times.append(time.perf_counter() - started)
        time.sleep(0.02)
    return times, again


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=1000, help="half-open at a time, at most 1,000")
    parser.add_argument("--seconds", type=float, default=15.0, help="of each measurement, at most 60")
    asked = parser.parse_args()
    connections, seconds = min(asked.connections, 1000), min(asked.seconds, 60.0)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        demo = [sys.executable, "-m", "kedge", "demo", "-q", "-o", str(run)]
        subprocess.run(
            demo, check=True, stdout=subprocess.DEVNULL, env={"PYTHONPATH": str(ROOT / "src"), "HOME": folder}
        )
        review = Review(run)
        host, _, port = review.host.rpartition(":")
        measure(review, 1.0, True)
        lates = []
        for attacked in (0, connections):
            counts = {"opened": 0, "closed": 0}
            end = time.monotonic() + 2 * seconds + 2
            attacker = threading.Thread(target=attack, args=(host, int(port), attacked, end, counts))
            attacker.start()
            time.sleep(2)  # all of them are there by now
            print(f"{attacked:,} half-open connections" + (f", {counts['opened']:,} opened so far" if attacked else ""))
            for fresh, name in ((False, "one connection"), (True, "a new connection each")):
                times, again = measure(review, seconds - 0.5, fresh)
                late, worst = 1000 * np.percentile(times, 95), 1000 * max(times)
                lates.append(late)
                print(f"  {name:22} {len(times):4} requests, 95th percentile {late:4.0f} ms, "
                      f"worst {worst:4.0f} ms, sent again {again}")  # fmt: skip
            attacker.join()
            if attacked:
                print(f"  {counts['opened']:,} opened, {counts['closed']:,} closed by either side")
        print(f"the server {'is still there' if review.process.poll() is None else 'DIED'}")
        review.stop()
    keep(
        "half-open",
        "half-open connections to `kedge review` while a reviewer works",
        f"{connections:,} connections at a time",
        f"95 % of the reviewer's requests within {lates[2]:.0f} ms on one connection (without: {lates[0]:.0f} ms), "
        f"{lates[3]:.0f} ms with a new connection each (without: {lates[1]:.0f} ms)",
        "python benchmarks/half_open.py",
    )


if __name__ == "__main__":
    main()
