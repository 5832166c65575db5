"""From a file to a stream of UTF-8 bytes: compression, encoding, and limits on what it may unpack to."""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

import pyarrow as pa

from kedge.config import ReadConfig
from kedge.context import STDIN, UserFile, memory, user_file
from kedge.errors import KedgeError

SAMPLE_BYTES: Final = 1 << 16
_BLOCK: Final = 1 << 20
_HEAD: Final = 64
_AVAILABLE_SHARE: Final = 0.5  # of the available memory for one input, where no limit was given; unmeasured
# Edge lists shrink 3 to 20 times; a file that unpacks to far more is not one.
_BOMB_RATIO: Final = 200
_BOMB_FLOOR: Final = 256 << 20
_COMPRESSION: Final = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_BOMS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def take_file(path: str | Path | UserFile, config: ReadConfig) -> UserFile:
    """The input that a path names; devices, and files beyond `read.max_memory_mb`, are refused.

    `-` is stdin, `FILE::TABLE` one table of a database.
    """
    if isinstance(path, UserFile):
        return path
    megabytes = config.max_memory_mb or _AVAILABLE_SHARE * memory().available
    name, table = split_table(path)
    file = replace(user_file(name, int(megabytes * 1e6)), table=table)
    if file.size == 0 and not head_of(file):
        raise KedgeError("is empty", file=file.path, remedy="give a file with one edge or pair per line")
    return file


def hold_pipe(source: Any, config: ReadConfig) -> Any:
    """What came through stdin or a pipe, read once; any other source as it is."""
    if isinstance(source, str | Path) and (str(source) == STDIN or Path(source).is_fifo()):
        return take_file(source, config)
    return source


def split_table(path: str | Path) -> tuple[str | Path, str]:
    """A path and the table that `FILE::TABLE` names; a file whose own name has `::` in it is taken as it is."""
    name, mark, table = str(path).rpartition("::")
    return (name, table) if mark and name and not os.path.lexists(path) else (path, "")


def head_of(file: UserFile) -> bytes:
    """The first bytes: as many as any format has its mark in."""
    with file.open() as opened:
        return guarded(lambda: opened.read(_HEAD), file, "read")


def refuse_bomb(file: UserFile, unpacked: int) -> None:
    """One line where a packed file becomes more than the limit, or far more than any edge list does."""
    file.refuse_beyond(unpacked, "unpacks to")
    if unpacked > max(_BOMB_FLOOR, _BOMB_RATIO * file.size):
        raise KedgeError(
            f"unpacks to more than {_BOMB_RATIO} times its size: this looks like a decompression bomb",
            file=file.path,
            remedy="unpack it yourself if you trust it",
        )


@dataclass(frozen=True)
class Source:
    """A readable text file: how it is packed and encoded, and its first bytes as text."""

    file: UserFile
    compression: str | None
    encoding: str
    bom: int
    sample: str
    whole: bool

    @property
    def path(self) -> Path:
        """What the user called it."""
        return self.file.path

    def stream(self) -> io.RawIOBase:
        """The bytes as UTF-8 without a BOM."""
        return _Utf8Stream(self)


class _Utf8Stream(io.RawIOBase):
    """Unpacks, strips the BOM and recodes on the way; stops at a decompression bomb."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._raw = _unpacked(source.file, source.compression)
        self._raw.read(source.bom)
        self._seen = 0
        recode = source.encoding != "utf-8"
        self._decoder = codecs.getincrementaldecoder(source.encoding)() if recode else None
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            block = guarded(lambda: self._raw.read(_BLOCK), self._source.file)
            self._seen += len(block)
            refuse_bomb(self._source.file, self._seen)
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


def _unpacked(file: UserFile, compression: str | None) -> BinaryIO:
    raw = file.open()
    if compression is None:
        return raw
    stream: BinaryIO = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), compression)
    return stream


def guarded(read: Callable[[], bytes], file: UserFile, verb: str = "unpacked") -> bytes:
    """What is read, or one line where the disk or the packing is damaged."""
    try:
        return read()
    except (OSError, EOFError) as error:
        raise KedgeError(
            f"cannot be {verb} ({error})", file=file.path, remedy="the file is damaged or cut short; fetch it again"
        ) from None


def inspect(file: UserFile) -> Source:
    """Look at the first bytes of a file: how it is packed and encoded."""
    head = head_of(file)
    compression = next((name for magic, name in _COMPRESSION.items() if head.startswith(magic)), None)
    with _unpacked(file, compression) as raw:
        block = guarded(lambda: raw.read(SAMPLE_BYTES), file)
    bom, encoding = next(((len(mark), name) for mark, name in _BOMS if block.startswith(mark)), (0, "utf-8"))
    text = block[bom:]
    if encoding == "utf-8" and b"\0" in text[:64:2] + text[1:64:2] and text[:64].count(b"\0") * 3 > len(text[:64]):
        # Every other byte is NUL: UTF-16 without its mark.
        encoding = "utf-16-le" if text[1:2] == b"\0" else "utf-16-be"
    whole = len(block) < SAMPLE_BYTES
    # The sample may end inside a character; only the reader proper judges the encoding.
    return Source(file, compression, encoding, bom, text.decode(encoding, errors="replace"), whole)
