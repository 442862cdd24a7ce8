"""The files of an outbox, and which of them are worth to be written anew: those of whose events most are settled."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Iterable, Set

from ._outbox_folder import make_folder, sync_folder

#: Some thousand events: what may be sent again after a crash, and how soon room comes back.
_SEGMENT_BYTES = 512 * 1024
#: More than what is under way leaves beside it, so that usually nothing is moved; and soon sent again after a crash.
_SETTLED_BYTES_MAX = 8 * 1024 * 1024

_sync = getattr(os, "fdatasync", os.fsync)


class Segment:
    __slots__ = ("carry", "is_full", "is_read", "is_unreadable", "path", "position", "size", "unread", "unsettled")

    def __init__(self, path: str, size: int, unread: float) -> None:
        self.path = path
        #: Bytes that are on disk for certain.
        self.size = size
        #: Events that are still to be read; infinite in one of another process, whose events nobody has counted.
        self.unread = unread
        #: Bytes of the events that were read and are not settled.
        self.unsettled = 0
        #: How far it is read, and what was read of a line that had not come to its end.
        self.position = 0
        self.carry = b""
        #: Nothing is appended to it any more.
        self.is_full = size > 0
        self.is_read = False
        #: It could not be read just now. Others are read meanwhile, and it is tried again with the next look.
        self.is_unreadable = False


def segment_bytes(outbox_bytes_max: int) -> int:
    """Returns from how many bytes on nothing more is appended, in an outbox of so many."""
    return min(_SEGMENT_BYTES, outbox_bytes_max // 4)


def worth_moving(segments: Iterable[Segment], outbox_bytes_max: int) -> Set[Segment]:
    """Returns, of files that are read to their end, those whose events that are not settled should be moved to one new file.

    None while little would come of it, in an outbox of so many bytes.
    """
    worthy: Set[Segment] = set()
    sparse = sorted((each for each in segments if each.unsettled <= each.size / 2), key=lambda each: each.unsettled)
    if sum(each.size - each.unsettled for each in sparse) <= min(_SETTLED_BYTES_MAX, outbox_bytes_max / 4):
        return worthy
    size = 0
    for segment in sparse:
        size += segment.unsettled
        if worthy and size > segment_bytes(outbox_bytes_max):
            break
        worthy.add(segment)
    return worthy


def create_file(path: str) -> int:
    """Makes an empty file whose name is on disk, and returns its descriptor."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags, 0o600)
    except FileNotFoundError:
        # Someone who took this process for gone has removed the empty folder.
        make_folder(os.path.dirname(path))
        descriptor = os.open(path, flags, 0o600)
    try:
        sync_folder(os.path.dirname(path))
    except BaseException:
        # The process may have too many files open: with each call it would have one more.
        os.close(descriptor)
        remove_file(path)
        raise
    return descriptor


def write_text(path: str, descriptor: int, text: bytes) -> bool:
    """Returns when the text is on disk: False where that is not the file of this name any more, which another process has taken over
    with or without all of the text.
    """
    view = memoryview(text)
    while view:
        view = view[os.write(descriptor, view) :]
    _sync(descriptor)
    return _is_at(path, descriptor)


def remove_file(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


def _is_at(path: str, descriptor: int) -> bool:
    try:
        return os.stat(path).st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False
