"""Queued events on disk.

An event is in a file, and the file on disk, before its ``queue`` returns. Files are only appended to, and deleted when each of their
events is settled, or is on disk in another one. So a process that dies loses nothing, and the next one may send some again, which are
counted once by their keys. Which folder, and what of earlier processes: ``_outbox_folder``.
"""

from __future__ import annotations

import logging
import math
import os
import threading
from typing import List, Optional, Sequence, Set, Tuple

from ._errors import WeirError
from ._event import Encoded, key_of
from ._outbox_folder import leave_folder, make_folder, make_own_folder, take_over
from ._outbox_owner import touch
from ._outbox_segment import Segment, create_file, remove_file, segment_bytes, worth_moving, write_text
from ._store import take_first
from ._warnings import Warnings

_READ_BYTES = 256 * 1024


class _Pending:
    __slots__ = ("error", "event", "is_done")

    def __init__(self, event: Encoded) -> None:
        self.event = event
        self.is_done = False
        self.error: Optional[OSError] = None


class Outbox:
    is_durable = True

    def __init__(self, folder: str, bytes_max: int, warnings: Warnings) -> None:
        """Takes over what earlier processes left."""
        self._base = os.path.abspath(folder)
        self._bytes_max = bytes_max
        self._warnings = warnings
        self.after_fork()
        # What of it cannot be taken over does not keep a service from its start.
        self.look()

    def after_fork(self) -> None:
        # The first is held while a file is written, the second while one is read, the third while some are moved, the last for what all
        # know.
        self._write_lock = threading.Lock()
        self._read_lock = threading.Lock()
        self._move_lock = threading.Lock()
        self._lock = threading.RLock()
        self._folder: Optional[str] = None
        self._number = 0
        self._pending: List[_Pending] = []
        self._active: Optional[Tuple[Segment, int]] = None
        #: Segments that are not read to their end, in the order in which they are read.
        self._unread: List[Segment] = []
        #: Those that are, and of which something is not settled.
        self._kept: Set[Segment] = set()
        self._ready: List[Encoded] = []
        self._taken: Set[Encoded] = set()
        #: Events of this process that are on disk, and those of them that were read.
        self._written = 0
        self._read: float = 0
        self._size = 0

    @property
    def size(self) -> int:
        with self._lock:
            return self._size + sum(len(each.event.line) + 1 for each in self._pending)

    @property
    def waiting(self) -> float:
        with self._lock:
            return len(self._ready) + sum(segment.unread for segment in self._unread if not segment.is_unreadable)

    @property
    def is_empty(self) -> bool:
        with self._lock:
            is_read = all(each.size == each.position for each in self._unread)
            return is_read and not self._ready and not self._pending and not self._taken

    @property
    def last(self) -> int:
        with self._lock:
            return self._written + len(self._pending)

    def is_settled_to(self, last: int) -> bool:
        with self._lock:
            is_read = self._read >= last and not any(math.isinf(segment.unread) for segment in self._unread)
            return is_read and all(each.number > last for each in (*self._ready, *self._taken))

    def has_room(self, size: int) -> bool:
        # Also for one that is larger than all of it, or what is settled of the file that is written to would keep it out for ever.
        return self.is_empty or self.size + size <= self._bytes_max

    def put(self, event: Encoded) -> _Pending:
        held = _Pending(event)
        with self._lock:
            self._pending.append(held)
        return held

    def write(self, held: _Pending) -> None:
        try:
            with self._write_lock:
                # Whoever held the lock before may have written this one with its own.
                if not held.is_done:
                    self._write_all()
        except BaseException:
            # A handler of signals has ended the call. The others of the write are written by those who wait for them.
            with self._lock:
                self._pending = [each for each in self._pending if each is not held]
            raise
        if held.error is not None:
            raise WeirError(
                status=0,
                code="outbox_failed",
                detail=f"The event could not be written to the outbox {self._base}: {held.error}. Queue it again with the same key",
                idempotency_keys=(held.event.key,),
            ) from held.error

    def look(self) -> bool:
        """Takes over what processes that are gone have left meanwhile, and what could not be read before; returns whether there is
        something. Never raises an OSError.
        """
        try:
            if self._folder is not None and not touch(self._folder):
                # Someone who took this process for gone has removed it: nothing could be taken over into it.
                make_folder(self._folder)
            take_over(self._base, self._next_path, self._add_taken)
        except OSError as error:
            self._warn("folder", f"The outbox {self._base} cannot be read: {error}")
        with self._lock:
            has_unreadable = any(segment.is_unreadable for segment in self._unread)
            for segment in self._unread:
                segment.is_unreadable = False
            return has_unreadable or math.isinf(self.waiting)

    def take(self, events_max: int, bytes_max: int) -> List[Encoded]:
        with self._read_lock:
            while len(self._ready) < events_max and self._read_on():
                pass
            with self._lock:
                events = take_first(self._ready, events_max, bytes_max)
                self._taken.update(events)
                return events

    def give_back(self, events: Sequence[Encoded], behind: bool = False) -> None:
        with self._lock:
            at = len(self._ready) if behind else 0
            self._ready[at:at] = events
            self._taken.difference_update(events)

    def settle(self, events: Sequence[Encoded]) -> None:
        with self._lock:
            self._taken.difference_update(events)
            for event in events:
                event.segment.unsettled -= len(event.line) + 1
                self._remove_if_done(event.segment)

    def compact(self) -> None:
        # Whoever moves some already does it for all.
        if not self._move_lock.acquire(blocking=False):
            return
        try:
            while self._move_some():
                pass
        except OSError as error:
            self._warn("file", f"What is settled keeps its room in the outbox {self._base} for now: {error}")
        finally:
            self._move_lock.release()

    def close(self) -> List[Encoded]:
        """What is not settled stays on disk, for the next process."""
        with self._write_lock, self._read_lock:
            if self._active is not None:
                self._retire(*self._active)
            # Finds the ends of segments that were read already.
            while not self._ready and (segment := self._next) is not None and segment.size == segment.position:
                self._read_on()
            if self._folder is not None:
                leave_folder(self._folder)
        return []

    def _move_some(self) -> bool:
        """Moves what is not settled of some files to a new one. The old ones go once that is on disk, with its name: whoever dies before
        leaves some events twice. Returns False, and leaves all as it is, where little would come of it, or when another process has taken
        the new one over.
        """
        with self._lock:
            segments = worth_moving(self._kept, self._bytes_max)
            text = b"".join(event.line + b"\n" for event in self._held_in(segments))
        if not segments:
            return False
        path = self._next_path()
        descriptor = create_file(path)
        try:
            is_ours = write_text(path, descriptor, text)
        except BaseException:
            os.close(descriptor)
            remove_file(path)
            raise
        os.close(descriptor)
        if not is_ours:
            return False
        moved = Segment(path, len(text), 0)
        with self._lock:
            self._size += moved.size
            # Some were settled meanwhile, in their old files.
            for event in self._held_in(segments):
                event.segment.unsettled -= len(event.line) + 1
                moved.unsettled += len(event.line) + 1
                event.segment = moved
            for segment in segments:
                self._remove_if_done(segment)
            self._keep(moved)
        return True

    def _held_in(self, segments: Set[Segment]) -> List[Encoded]:
        return [event for event in (*self._taken, *self._ready) if event.segment in segments]

    def _warn(self, kind: str, message: str) -> None:
        self._warnings.warn(kind, logging.WARNING, message)

    def _next_path(self, left: Optional[str] = None) -> str:
        with self._lock:
            if self._folder is None:
                folder, files = make_own_folder(self._base, left)
                for file in files:
                    self._number = int(file.partition(".")[0])
                    self._add_taken(os.path.join(folder, file))
                self._folder = folder
            self._number += 1
            return os.path.join(self._folder, f"{self._number:08}.ndjson")

    def _add_taken(self, path: str) -> None:
        segment = Segment(path, os.path.getsize(path), math.inf)
        segment.is_full = True
        with self._lock:
            # What is written to is the last that is read: what it may still get must not hold up what others have left.
            at = len(self._unread)
            if self._active is not None and self._active[0] in self._unread:
                at = self._unread.index(self._active[0])
            self._unread.insert(at, segment)
            self._size += segment.size

    def _write_all(self) -> None:
        with self._lock:
            group = list(self._pending)
        error: Optional[OSError] = None
        try:
            self._write(b"".join(each.event.line + b"\n" for each in group), len(group))
        except OSError as failure:
            error = failure
        with self._lock:
            # In one turn, so that `last` counts each event once.
            for each in group:
                each.is_done = True
                each.error = error
            self._pending = [each for each in self._pending if not each.is_done]
            if error is None:
                self._written += len(group)

    def _write(self, text: bytes, events: int) -> None:
        """Returns when the text is on disk, in a file that no other process has taken over."""
        while True:
            segment, descriptor = self._active or self._open_segment()
            try:
                is_ours = write_text(segment.path, descriptor, text)
                if is_ours:
                    with self._lock:
                        segment.size += len(text)
                        self._size += len(text)
                        # Before it is closed, when its reader may come to its end.
                        segment.unread += events
            except BaseException:
                # After a write that failed, or that a handler of signals has ended, nobody knows what the file holds: it gets no more,
                # and ends where it was good.
                self._retire(segment, descriptor)
                self._cut(segment)
                raise
            if not is_ours:
                # Someone has it who took this process for gone, and sends what was in it then, with or without this text.
                self._retire(segment, descriptor)
                continue
            if segment.size >= segment_bytes(self._bytes_max):
                self._retire(segment, descriptor)
            return

    def _cut(self, segment: Segment) -> None:
        """Ends a file where it was good. One without an event is removed: a disk that is full for hours would get one more with each
        call.
        """
        if segment.size == 0:
            with self._lock:
                self._end_segment(segment)
            return
        try:
            os.truncate(segment.path, segment.size)
        except OSError as error:
            self._warn("file", f"{segment.path} may end with events that were not queued: {error}")

    def _open_segment(self) -> Tuple[Segment, int]:
        path = self._next_path()
        descriptor = create_file(path)
        segment = Segment(path, 0, 0)
        with self._lock:
            self._unread.append(segment)
            self._active = (segment, descriptor)
        return segment, descriptor

    def _retire(self, segment: Segment, descriptor: int) -> None:
        with self._lock:
            self._active = None
            segment.is_full = True
        os.close(descriptor)

    @property
    def _next(self) -> Optional[Segment]:
        """The one to read from."""
        return next((segment for segment in self._unread if not segment.is_unreadable), None)

    def _read_on(self) -> bool:
        """Reads some more events; returns False when there is nothing more to read now."""
        with self._lock:
            segment = self._next
            if segment is None:
                return False
            length = min(_READ_BYTES, segment.size - segment.position)
            if length == 0 and not segment.is_full:
                return False
        chunk = self._read_chunk(segment, length) if length > 0 else b""
        if chunk is None:
            return True
        *lines, carry = (segment.carry + chunk).split(b"\n")
        events = [event for event in (self._read_line(segment, line) for line in lines) if event is not None]
        with self._lock:
            segment.carry = carry
            segment.position += len(chunk)
            if not math.isinf(segment.unread):
                for line_number, event in enumerate(events, 1):
                    event.number = self._read + line_number
                self._read += len(lines)
            segment.unread -= len(lines)
            segment.unsettled += sum(len(event.line) + 1 for event in events)
            self._ready.extend(events)
            if not chunk or (segment.is_full and segment.position == segment.size):
                self._end_segment(segment)
        return True

    def _read_line(self, segment: Segment, line: bytes) -> Optional[Encoded]:
        try:
            key = key_of(line)
        except (ValueError, RecursionError):
            self._warn("line", f"A line of the outbox cannot be read, and is left out: {line[:200]!r}")
            return None
        return Encoded(key, line, segment)

    def _read_chunk(self, segment: Segment, length: int) -> Optional[bytes]:
        """Empty when nothing more is there: another process has taken the file over, and sends what is in it. None when it cannot be
        read.
        """
        try:
            with open(segment.path, "rb") as file:
                file.seek(segment.position)
                return file.read(length)
        except FileNotFoundError:
            return b""
        except OSError as error:
            # The process may have too many files open.
            self._warn("file", f"{segment.path} cannot be read now, and is tried again: {error}")
            segment.is_unreadable = True
            return None

    def _end_segment(self, segment: Segment) -> None:
        if segment.is_read:
            return
        # What follows the last whole line was torn when its process died: no `queue` had returned for it.
        # Others may have come before it meanwhile.
        self._unread.remove(segment)
        if not math.isinf(segment.unread):
            self._read += segment.unread
        self._keep(segment)

    def _keep(self, segment: Segment) -> None:
        """One that was read to its end is held until its events are settled."""
        segment.is_read = True
        segment.is_full = True
        self._kept.add(segment)
        self._remove_if_done(segment)

    def _remove_if_done(self, segment: Segment) -> None:
        # Once: one may be done while what is left of it is moved.
        if segment.unsettled > 0 or segment not in self._kept:
            return
        self._kept.remove(segment)
        self._size -= segment.size
        try:
            remove_file(segment.path)
        except OSError as error:
            self._warn("file", f"A file of the outbox cannot be removed: {error}")
