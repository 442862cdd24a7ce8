"""The folders of an outbox: each process writes in one of its own, and takes over the files of those that are gone.

Whether a process is gone may be a guess (``_outbox_owner``). So a wrong guess must cost nothing. A file is taken over by renaming it
before it is read, and a process looks after each write whether its file still has its name (``_outbox``). Both may then send an
event, which is counted once by its key.
"""

from __future__ import annotations

import os
import re
import secrets
from typing import Callable, List, Optional, Set, Tuple

from ._outbox_owner import is_of_gone, own_name

_SEGMENT = re.compile(r"\d{8}\.ndjson")

#: The folders of this process, in which it is at work.
_own_folders: Set[str] = set()


def make_own_folder(base: str, left: Optional[str] = None) -> Tuple[str, List[str]]:
    """Makes a new folder for this process; on disk when it returns.

    Where that cannot be made, since the disk is full, ``left`` becomes it: the folder of a process that is gone, with the files in it,
    which are returned. To send what is there needs no room, and makes some.
    """
    os.makedirs(base, mode=0o700, exist_ok=True)
    head, tail = own_name()
    folder = os.path.join(base, f"{head}-{secrets.token_hex(6)}-{tail}")
    _own_folders.add(folder)
    try:
        try:
            make_folder(folder)
        except OSError:
            if left is None or not _is_renamed(left, folder):
                raise
        return folder, _segments_in(folder)
    except BaseException:
        # It may be there, and the next try makes another one.
        leave_folder(folder)
        raise


def make_folder(folder: str) -> None:
    """Makes a folder, and brings its name to disk."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    sync_folder(os.path.dirname(folder))


def leave_folder(folder: str) -> None:
    """Gives a folder up: whoever comes next may take over what is left in it. An empty one is removed."""
    _own_folders.discard(folder)
    _remove_empty(folder)


def forget_folders() -> None:
    """In the child of a fork: the folders are those of the parent."""
    _own_folders.clear()


def take_over(base: str, new_path: Callable[[str], str], taken: Callable[[str], None]) -> None:
    """Moves the segments of processes that are gone to names that ``new_path`` gives, and calls ``taken`` with each, oldest first.

    It tells ``new_path`` the folder that they are in, which may become this process's own. Raises an OSError when a folder cannot be taken over, after all others were.
    """
    failures: List[OSError] = []
    for name in os.listdir(base) if os.path.isdir(base) else []:
        folder = os.path.join(base, name)
        if folder in _own_folders or not is_of_gone(folder, name):
            continue
        try:
            for file in _segments_in(folder):
                path = new_path(folder)
                try:
                    os.rename(os.path.join(folder, file), path)
                except FileNotFoundError:
                    # Another process took it, or the whole folder is this process's own by now.
                    continue
                except PermissionError:
                    # On Windows another process has it open; elsewhere it belongs to another user.
                    if os.name != "nt":
                        raise
                    continue
                taken(path)
        except FileNotFoundError:
            # Another process took all of it.
            continue
        except OSError as failure:
            failures.append(failure)
            continue
        _remove_empty(folder)
    if failures:
        raise failures[0]


def _segments_in(folder: str) -> List[str]:
    """Oldest first."""
    return sorted(file for file in os.listdir(folder) if _SEGMENT.fullmatch(file))


def _is_renamed(left: str, folder: str) -> bool:
    """As of a file: of several who come for it one rename finds it."""
    try:
        os.rename(left, folder)
    except OSError:
        return False
    return True


def sync_folder(folder: str) -> None:
    """Brings the names in a folder to disk. Windows does so by itself, and does not open folders."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        # Something is left in it, or it is gone.
        pass
