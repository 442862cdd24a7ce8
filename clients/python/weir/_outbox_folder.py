"""The folders of an outbox: each process writes in one of its own, and takes over the files of those that are gone.

Whether a process is gone is a guess: in another container it cannot be seen. So a wrong guess must cost nothing. A file is taken
over by renaming it before it is read, and a process looks after each write whether its file still has its name (``_outbox``). Both
may then send an event, which is counted once by its key.
"""

from __future__ import annotations

import os
import re
import secrets
from typing import Callable, List, Set

_NAME = re.compile(r"(\d+)-(\d+)-[0-9a-f]{12}")
_SEGMENT = re.compile(r"\d{8}\.ndjson")

#: The folders of this process, in which it is at work: its number alone says nothing in a container, where it is always 1.
_own_folders: Set[str] = set()


def make_own_folder(base: str) -> str:
    """Makes a new folder for this process; on disk when it returns."""
    os.makedirs(base, mode=0o700, exist_ok=True)
    pid = os.getpid()
    folder = os.path.join(base, f"{pid}-{_start_of(pid)}-{secrets.token_hex(6)}")
    _own_folders.add(folder)
    os.mkdir(folder, 0o700)
    sync_folder(base)
    return folder


def leave_folder(folder: str) -> None:
    """Gives a folder up: whoever comes next may take over what is left in it. An empty one is removed."""
    _own_folders.discard(folder)
    _remove_empty(folder)


def forget_folders() -> None:
    """In the child of a fork: the folders are those of the parent."""
    _own_folders.clear()


def take_over(base: str, new_path: Callable[[], str]) -> List[str]:
    """Moves the segments of processes that are gone to names that ``new_path`` gives; returns their paths, oldest first."""
    taken: List[str] = []
    if not os.path.isdir(base):
        return taken
    for name in os.listdir(base):
        folder = os.path.join(base, name)
        if not _is_left(folder, name):
            continue
        try:
            files = sorted(file for file in os.listdir(folder) if _SEGMENT.fullmatch(file))
        except FileNotFoundError:
            continue
        for file in files:
            path = new_path()
            try:
                os.rename(os.path.join(folder, file), path)
            except (FileNotFoundError, PermissionError):
                # Another process took it; or, on Windows, has it open.
                continue
            taken.append(path)
        _remove_empty(folder)
    return taken


def sync_folder(folder: str) -> None:
    """Brings the names in a folder to disk. Windows does so by itself, and does not open folders."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_left(folder: str, name: str) -> bool:
    """Whether this is the folder of a process that is gone, as far as can be seen."""
    match = _NAME.fullmatch(name)
    if match is None or folder in _own_folders:
        return False
    pid, start = int(match[1]), match[2]
    # Windows has no signal that only asks; there a file that someone has open is not taken.
    if pid == os.getpid() or os.name == "nt":
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        pass
    # Its number may belong to another process by now.
    return start != "0" and start != _start_of(pid)


def _start_of(pid: int) -> str:
    """When a process began, as Linux counts it; 0 where that cannot be known."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            stat = file.read()
    except OSError:
        return "0"
    # The name of the program, in brackets, may hold anything; after it stand state, parent and so on to the 22nd field.
    return stat[stat.rfind(")") + 2 :].split(" ")[19]


def _remove_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        # Something is left in it, or it is gone.
        pass
