"""Files of kinds that are not read, recognised by their first bytes: each is one line with what to do instead."""

from __future__ import annotations

from typing import Final

from kedge.errors import KedgeError
from kedge.ingest.sources import UserFile, head_of

_AS_CSV: Final = "save it as CSV and give that"
_UNPACK: Final = "unpack it, or pack it with gzip or zstd"
_MARKS: Final[tuple[tuple[bytes, str, str], ...]] = (
    (b"PK\x03\x04", "a workbook (xlsx, ods) or another zip archive", "save its sheet as CSV, or unpack it"),
    (b"\xd0\xcf\x11\xe0", "a workbook (xls)", "save its sheet as CSV"),
    (b"BZh", "packed with bzip2", _UNPACK),
    (b"\xfd7zXZ\0", "packed with xz", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (b"Rar!", "a rar archive", _UNPACK),
    (b"%PDF", "a PDF document", _AS_CSV),
    (b"\x89HDF", "an HDF5 file", _AS_CSV),
    (b"\x93NUMPY", "an array of NumPy", "load it in Python and give kedge.match the array"),
    (b"\x80\x04\x95", "a pickle of Python, which could run a program when it is read", _AS_CSV),
    (b"\x80\x05\x95", "a pickle of Python, which could run a program when it is read", _AS_CSV),
    (b"%%MatrixMarket", "a Matrix Market file", "load it with scipy.io.mmread and give kedge.match the matrix"),
    (b"version https://git-lfs", "a pointer of Git LFS and not the file itself", "fetch it with: git lfs pull"),
)
_HTML: Final = (b"<!doctype html", b"<html")


def refuse_foreign(file: UserFile) -> None:
    """One line where a file is of a kind that is not read."""
    head = head_of(file)
    for mark, what, remedy in _MARKS:
        if head.startswith(mark):
            raise KedgeError(f"is {what}", file=file.path, remedy=remedy)
    plain = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if plain.startswith(_HTML):
        raise KedgeError("is a web page, not a table", file=file.path, remedy="download the file itself")
    if plain.startswith(b"<?xml") or plain.startswith(b"<gexf"):
        raise KedgeError("is XML and no GraphML", file=file.path, remedy="save it as GraphML, GML or CSV")
