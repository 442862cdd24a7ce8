"""Whether the process that a folder of an outbox belongs to is gone.

The folder's name tells which process it was, when that began, and where. Where it cannot be looked for, in another container, its
folder tells: it is touched while the process lives.
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
import time
from typing import NamedTuple, Optional, Tuple

_NAME = re.compile(r"(\d+)-(\d+)-[0-9a-f]{12}(?:-([0-9a-f]{8}))?")

#: How often a process looks for folders whose process is gone, and touches its own, in seconds.
LOOK_INTERVAL = 5.0

#: A folder that was not touched for so long belongs to nobody any more. Some looks long, since a busy process may come late. The same holds
#: of one whose time lies as far ahead: the clock was set back since, and whoever lives touches anew.
_UNTOUCHED = 60.0


class _Process(NamedTuple):
    is_zombie: bool
    #: When it began, as Linux counts it.
    start: str


def own_name() -> Tuple[str, str]:
    """What a folder of this process begins with, and ends with."""
    pid = os.getpid()
    found = _process_of(pid)
    return f"{pid}-{found.start if found else '0'}", _place()


def touch(folder: str) -> bool:
    """Tells others that the process of this folder lives. Returns False where it is missing."""
    try:
        os.utime(folder)
    except FileNotFoundError:
        return False
    return True


def is_of_gone(folder: str, name: str) -> bool:
    """Whether this is the folder of a process that is gone. One that lives here is never taken for gone."""
    match = _NAME.fullmatch(name)
    if match is None:
        return False
    # A name of before there was a place in it means here.
    has_ended = _has_ended(int(match[1]), match[2]) if match[3] in (None, _place()) else None
    return _is_untouched(folder) if has_ended is None else has_ended


def _has_ended(pid: int, start: str) -> Optional[bool]:
    """None where that cannot be seen from here."""
    if pid == os.getpid():
        # Nobody asks about a folder in which this process is at work: it has left this one, or had its number from another.
        return True
    found = _process_of(pid)
    if found is None:
        return True if _is_nobody(pid) else None
    # One that ended and that its parent has not asked about yet still has its number.
    if found.is_zombie:
        return True
    if start == "0":
        return None
    # Its number may belong to another process by now.
    return found.start != start


def _is_nobody(pid: int) -> bool:
    # Windows has no signal that only asks.
    if os.name == "nt":
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        pass
    return False


def _process_of(pid: int) -> Optional[_Process]:
    """What Linux tells of a process; None where it tells nothing."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            stat = file.read()
    except OSError:
        return None
    # The name of the program, in brackets, may hold anything; after it stand state, parent and so on to the 22nd field.
    fields = stat[stat.rfind(")") + 2 :].split(" ")
    return _Process(fields[0] in ("Z", "X", "x"), fields[19]) if len(fields) > 19 else None


def _place() -> str:
    """Where numbers of processes mean the same: a container since the machine was started, else the machine by its name."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            parts = [file.read().strip(), os.readlink("/proc/self/ns/pid")]
    except OSError:
        parts = [socket.gethostname()]
    return hashlib.sha256("\n".join(parts).encode("utf-8")).hexdigest()[:8]


def _is_untouched(folder: str) -> bool:
    try:
        return abs(time.time() - os.stat(folder).st_mtime) > _UNTOUCHED
    except OSError:
        return False
