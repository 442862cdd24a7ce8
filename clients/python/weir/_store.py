"""Where queued events lie: in memory, or in an outbox on disk."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Protocol, Sequence

from ._event import Encoded


class Store(Protocol):
    #: Whether events outlive the process.
    is_durable: bool

    @property
    def waiting(self) -> float:
        """Events that can be taken; infinite when an earlier process left some, which nobody has counted."""

    @property
    def size(self) -> int:
        """Bytes of JSON, those under way included."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is held at all."""

    @property
    def last(self) -> int:
        """The number of the event that was put last: they are counted from 1."""

    def is_settled_to(self, last: int) -> bool:
        """Whether all events are settled up to the one with this number, and what other processes left before."""

    def has_room(self, size: int) -> bool:
        """Whether an event of this size may be added now."""

    def put(self, event: Encoded) -> Any:
        """Begins to hold the event, without waiting for anything; returns what ``write`` takes."""

    def write(self, held: Any) -> None:
        """Returns when what was put is held as promised. Raises when it is not held."""

    def take(self, events_max: int, bytes_max: int) -> List[Encoded]:
        """Takes the oldest events out, to be settled or given back."""

    def give_back(self, events: Sequence[Encoded], behind: bool = False) -> None:
        """Puts events back that were taken, before those that wait, or behind them."""

    def settle(self, events: Sequence[Encoded]) -> None:
        """Lets go of events that were taken."""

    def compact(self) -> None:
        """Gives back room that settled events take beside those that are not. Never raises an OSError."""

    def after_fork(self) -> None:
        """Forgets everything: it belongs to the parent of this process."""

    def close(self) -> List[Encoded]:
        """Ends it, and returns what would be lost with it."""


class MemoryStore:
    """Holds so many events and bytes. Whoever uses it holds a lock."""

    is_durable = False

    def __init__(self, events_max: int, bytes_max: int) -> None:
        self._events_max = events_max
        self._bytes_max = bytes_max
        self.after_fork()

    def after_fork(self) -> None:
        self._waiting: List[Encoded] = []
        #: Those that are not settled, oldest first, with their numbers.
        self._held: Dict[Encoded, int] = {}
        self.last = 0
        self.size = 0

    @property
    def waiting(self) -> float:
        return len(self._waiting)

    @property
    def is_empty(self) -> bool:
        return not self._held

    def is_settled_to(self, last: int) -> bool:
        return next(iter(self._held.values()), math.inf) > last

    def has_room(self, size: int) -> bool:
        return self.is_empty or (len(self._held) < self._events_max and self.size + size <= self._bytes_max)

    def put(self, event: Encoded) -> None:
        self._waiting.append(event)
        self.last += 1
        self._held[event] = self.last
        self.size += len(event.line)

    def write(self, held: None) -> None:
        """It is held as promised already."""

    def take(self, events_max: int, bytes_max: int) -> List[Encoded]:
        return take_first(self._waiting, events_max, bytes_max)

    def give_back(self, events: Sequence[Encoded], behind: bool = False) -> None:
        at = len(self._waiting) if behind else 0
        self._waiting[at:at] = events

    def settle(self, events: Sequence[Encoded]) -> None:
        for event in events:
            # One that waited for a look-up when the queue was closed was given back.
            if self._held.pop(event, None) is not None:
                self.size -= len(event.line)

    def compact(self) -> None:
        """What is settled takes no room."""

    def close(self) -> List[Encoded]:
        # Also what was taken: whoever has it sends it no more.
        left = list(self._held)
        self.after_fork()
        return left


def take_first(events: List[Encoded], events_max: int, bytes_max: int) -> List[Encoded]:
    """Takes at most so many events, and bytes of them, from the front of a list; at least one where there is one."""
    count = size = 0
    for event in events[:events_max]:
        size += len(event.line)
        if count > 0 and size > bytes_max:
            break
        count += 1
    taken = events[:count]
    del events[:count]
    return taken
