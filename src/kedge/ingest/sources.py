"""From a path to a stream of UTF-8 bytes: existence, compression, encoding, and limits on what it may unpack to."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import pyarrow as pa

from kedge.errors import KedgeError

SAMPLE_BYTES: Final = 1 << 16
_BLOCK: Final = 1 << 20
# Edge lists shrink 3 to 20 times; a file that unpacks to far more is not one.
_BOMB_RATIO: Final = 200
_BOMB_FLOOR: Final = 256 << 20
_COMPRESSION: Final = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_BOMS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True)
class Source:
    """A readable text file: how it is packed and encoded, and its first bytes as text."""

    path: Path
    compression: str | None
    encoding: str
    bom: int
    sample: str
    whole: bool

    def open(self) -> Any:
        """The bytes as UTF-8 without a BOM, as something that Arrow reads."""
        if self.compression is None and self.encoding == "utf-8" and self.bom == 0:
            return pa.OSFile(str(self.path), "rb")
        return pa.PythonFile(io.BufferedReader(self.stream(), _BLOCK), mode="r")

    def stream(self) -> io.RawIOBase:
        """The same as a Python stream."""
        return _Utf8Stream(self)


class _Utf8Stream(io.RawIOBase):
    """Unpacks, strips the BOM and recodes on the way; stops at a decompression bomb."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._raw = _unpacked(source.path, source.compression)
        self._raw.read(source.bom)
        self._packed = source.path.stat().st_size
        self._seen = 0
        recode = source.encoding != "utf-8"
        self._decoder = codecs.getincrementaldecoder(source.encoding)() if recode else None
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            block = _guarded(lambda: self._raw.read(_BLOCK), self._source.path)
            self._seen += len(block)
            if self._seen > max(_BOMB_FLOOR, _BOMB_RATIO * self._packed):
                raise KedgeError(
                    f"unpacks to more than {_BOMB_RATIO} times its size: this looks like a decompression bomb",
                    file=self._source.path,
                    remedy="unpack it yourself if you trust it",
                )
            if self._decoder is None:
                if not block:
                    return 0
                self._left = block
                continue
            try:
                self._left = self._decoder.decode(block, final=not block).encode()
            except UnicodeError:
                raise _not_text(self._source) from None
            if not block and not self._left:
                return 0
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


def _not_text(source: Source) -> KedgeError:
    return KedgeError(f"is not valid {source.encoding.upper()} text", file=source.path, remedy="save it as UTF-8")


def _unpacked(path: Path, compression: str | None) -> BinaryIO:
    raw = path.open("rb")
    if compression is None:
        return raw
    stream: BinaryIO = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), compression)
    return stream


def _guarded(read: Callable[[], bytes], path: Path) -> bytes:
    try:
        return read()
    except (OSError, EOFError) as error:
        raise KedgeError(
            f"cannot be unpacked ({error})", file=path, remedy="the file is damaged or cut short; fetch it again"
        ) from None


def inspect(path: str | Path) -> Source:
    """Look at the first bytes of a file, or say in one line why it cannot be read."""
    path = Path(path)
    head = _head_of_file(path)
    compression = next((name for magic, name in _COMPRESSION.items() if head.startswith(magic)), None)
    with _unpacked(path, compression) as raw:
        block = _guarded(lambda: raw.read(SAMPLE_BYTES), path)
    bom, encoding = next(((len(mark), name) for mark, name in _BOMS if block.startswith(mark)), (0, "utf-8"))
    text = block[bom:]
    if encoding == "utf-8" and b"\0" in text[:64:2] + text[1:64:2] and text[:64].count(b"\0") * 3 > len(text[:64]):
        # Every other byte is NUL: UTF-16 without its mark.
        encoding = "utf-16-le" if text[1:2] == b"\0" else "utf-16-be"
    whole = len(block) < SAMPLE_BYTES
    # The sample may end inside a character; only the reader proper judges the encoding.
    return Source(path, compression, encoding, bom, text.decode(encoding, errors="replace"), whole)


def _head_of_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except FileNotFoundError:
        raise KedgeError("no such file", file=path, remedy="check the path") from None
    except IsADirectoryError:
        raise KedgeError("is a directory", file=path, remedy="give the file inside it") from None
    except PermissionError:
        raise KedgeError("may not be read", file=path, remedy="check its permissions") from None
    except (OSError, ValueError) as error:
        raise KedgeError(f"cannot be read ({error})", file=path, remedy="check the path") from None
    if not head:
        raise KedgeError("is empty", file=path, remedy="give a file with one edge or pair a line")
    return head
