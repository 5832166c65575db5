"""A Dask cluster: `dask scheduler` and `dask worker` processes anywhere that this machine reaches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kedge.errors import KedgeError

__all__ = ["Dask"]


@dataclass(frozen=True)
class Dask:
    """Jobs on the cluster at `address`; Dask itself runs a dead worker's jobs again."""

    address: str
    timeout: float = 0.0
    retries: int = 2
    connect_seconds: float = 10.0

    def run(self, job: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """As they are ready."""
        try:
            from distributed import Client
        except ImportError:
            raise KedgeError("engine dask needs dask.distributed", remedy="pip install kedge[cluster]") from None
        try:
            client = Client(self.address, timeout=self.connect_seconds, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise KedgeError(
                f"no Dask scheduler answers at {self.address} ({reason})",
                remedy="start `dask scheduler` and `dask worker` there, or check the address",
            ) from None
        try:
            yield from self._collect(client, job, arguments)
        finally:
            client.close()

    def _collect(self, client: Any, job: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        from distributed import wait

        if not client.scheduler_info()["workers"]:
            raise KedgeError(
                f"the Dask scheduler at {self.address} has no workers", remedy=f"start `dask worker {self.address}`"
            )
        futures = {
            client.submit(job, argument, pure=False, retries=self.retries): place
            for place, argument in enumerate(arguments)
        }
        progress = time.monotonic()
        left = set(futures)
        while left:
            try:
                with client.as_current():
                    ready = wait(list(left), timeout=5, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                if self.timeout and time.monotonic() - progress > self.timeout:
                    raise KedgeError(
                        f"no job came back from {self.address} for {self.timeout:.0f} s",
                        remedy="a worker hangs: restart it, then run the same command again",
                    ) from None
                continue
            progress = time.monotonic()
            for future in ready:
                left.discard(future)
                yield futures[future], future.result()
                future.release()
