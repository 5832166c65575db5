"""Files that users name: pipes are read once and to their end, devices not at all, nothing beyond its limit."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kedge.context import user_file
from kedge.errors import KedgeError


def writing(path: Path, *blocks: bytes) -> Callable[[], None]:
    """Start what writes into a FIFO; returns how to wait for it."""

    def write() -> None:
        try:
            with path.open("wb", buffering=0) as pipe:
                for block in blocks:
                    pipe.write(block)
        except BrokenPipeError:
            pass

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread.join


def test_a_pipe_is_read_to_its_end_and_can_then_be_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    content = b"0123456789" * 30_000  # more than a pipe holds at once
    wait = writing(path, content[:7], content[7:])
    file = user_file(path, 1 << 20)
    wait()
    assert file.size == len(content)
    assert [file.open().read() for _ in range(2)] == [content, content]


def test_a_pipe_beyond_the_limit_is_refused_before_its_end(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    wait = writing(path, *[bytes(1 << 20)] * 64)
    with pytest.raises(KedgeError, match=r"pipe: holds more than 2 MB.*--max-input-memory"):
        user_file(path, 2_000_000)
    wait()


def test_a_pipe_without_writer_is_given_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(KedgeError, match="nothing came through this pipe; start what writes into it"):
        user_file(tmp_path / "pipe", 1000, patience=0.05)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_devices_are_refused(device: str) -> None:
    with pytest.raises(KedgeError, match=f"{device}: is a device or a socket, not a file; give a file or a pipe"):
        user_file(device, 1000)


def test_a_sparse_file_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(KedgeError, match="holds more than 1 MB"):
        user_file(path, 1_000_000)
