"""The address of a Dask scheduler: checked before Dask's own client sees it, since that may wait for ever.

A scheduler sends the first bytes on every connection: eight with the number of frames that follow. So one connection
shows whether a scheduler answers, within a time limit.
"""

from __future__ import annotations

import re
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kedge.config import EngineConfig
from kedge.errors import KedgeError

_ADDRESS: Final = re.compile(r"(?:(tcp|tls)://)?(?:\[([0-9a-fA-F:.]+)\]|([^\s:/\[\]]+)):(\d{1,5})/?")
_MOST_FRAMES: Final = 1_000  # another server's greeting, read as a number, is far above that


@dataclass(frozen=True)
class Address:
    """Where the scheduler listens, and the TLS files of the connection to it (all empty: not encrypted)."""

    host: str
    port: int
    ca: str = ""
    cert: str = ""
    key: str = ""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'tls' if self.ca else 'tcp'}://{host}:{self.port}"

    def security(self) -> Any:
        """Dask's record of the TLS files, or None."""
        if not self.ca:
            return None
        from distributed.security import Security

        return Security(
            tls_ca_file=self.ca, tls_client_cert=self.cert, tls_client_key=self.key, require_encryption=True
        )

    def probe(self, seconds: float) -> None:
        """Refuse an address at which no scheduler answers within this time."""
        until = time.monotonic() + seconds
        try:
            with socket.create_connection((self.host, self.port), timeout=seconds) as plain:
                plain.settimeout(max(0.1, until - time.monotonic()))
                if not self.ca:
                    self._expect_scheduler(plain)
                else:
                    context = self.security().get_connection_args("client")["ssl_context"]
                    with context.wrap_socket(plain, server_hostname=self.host) as encrypted:
                        self._expect_scheduler(encrypted)
        except TimeoutError:
            raise self.silent(f"nothing within {seconds:g} s") from None
        except (OSError, ValueError) as error:  # a ValueError: a name that is none, a key without a certificate
            raise self.silent(" ".join(str(error).split()) or type(error).__name__) from None

    def _expect_scheduler(self, connection: socket.socket) -> None:
        greeting = b""
        while len(greeting) < 8 and (more := connection.recv(8 - len(greeting))):
            greeting += more
        if len(greeting) < 8 or not 0 < int.from_bytes(greeting, "little") < _MOST_FRAMES:
            raise self.silent("something else listens there, or it wants TLS: --tls-ca")

    def silent(self, reason: str) -> KedgeError:
        """One line on an address that does not answer."""
        return KedgeError(
            f"no Dask scheduler answers at {self} ({reason})",
            remedy="start `dask scheduler` and `dask worker` there, or check the address",
        )


def parse_address(config: EngineConfig) -> Address:
    """The address and the TLS files of the configuration, refused where they cannot be meant."""
    if not config.address:
        raise KedgeError("engine dask needs the scheduler's address", remedy="give --address tcp://host:8786")
    found = _ADDRESS.fullmatch(config.address)
    if found is None or not 0 < int(found[4]) < 65536:
        raise KedgeError(
            f"{config.address!r} is not the address of a Dask scheduler",
            remedy="write tcp://host:8786, or tls://host:8786",
        )
    files = {"--tls-ca": config.tls_ca, "--tls-cert": config.tls_cert, "--tls-key": config.tls_key}
    for option, name in files.items():
        if name and not Path(name).is_file():
            raise KedgeError(f"{option}: there is no such file", file=name, remedy="give a file in PEM format")
    if any(files.values()) and found[1] == "tcp":
        raise KedgeError("TLS files for an address without TLS", remedy="write tls://host:8786")
    # Dask workers, schedulers and clients all show a certificate to each other.
    if (any(files.values()) or found[1] == "tls") and not all(files.values()):
        missing = " ".join(option for option, name in files.items() if not name)
        raise KedgeError(f"Dask by TLS needs {missing} too", remedy="give the three files in PEM format")
    return Address(found[2] or found[3], int(found[4]), config.tls_ca, config.tls_cert, config.tls_key)
