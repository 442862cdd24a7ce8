from __future__ import annotations

import logging
import math
import threading
import time
from typing import Dict, Optional

logger = logging.getLogger("weir")

#: After the first of many alike, the next one is said not sooner than so much later, with how many there were. In seconds.
INTERVAL = 60.0


class _Counted:
    def __init__(self) -> None:
        self.since = time.monotonic()
        self.count = 0
        self.level = logging.WARNING
        self.last = ""
        self.error: Optional[BaseException] = None


class Warnings:
    """Says the first warning of a kind at once, and counts those that follow: a flood of them is a line a minute."""

    def __init__(self, interval: float = INTERVAL) -> None:
        self._interval = interval
        self.after_fork()

    def after_fork(self) -> None:
        """In the child of a fork: what was counted is the parent's to say."""
        self._lock = threading.Lock()
        self._counted: Dict[str, _Counted] = {}

    def warn(self, kind: str, level: int, message: str, error: Optional[BaseException] = None) -> None:
        """``kind`` says which warnings are alike; there must not be many kinds."""
        with self._lock:
            counted = self._counted.get(kind)
            if counted is None:
                self._counted[kind] = _Counted()
            else:
                counted.count += 1
                counted.level, counted.last, counted.error = level, message, error
        if counted is None:
            logger.log(level, message, exc_info=error)
        else:
            self.say_due()

    def say_due(self) -> None:
        """Says what was counted for long enough. It has no thread of its own: who sends calls it now and then."""
        self._say_since(time.monotonic() - self._interval)

    def flush(self) -> None:
        """Says what was counted and not said, and begins anew."""
        self._say_since(math.inf)

    def _say_since(self, latest: float) -> None:
        with self._lock:
            due = {kind: counted for kind, counted in self._counted.items() if counted.since <= latest}
            for kind, counted in due.items():
                del self._counted[kind]
                if counted.count > 0 and latest != math.inf:
                    self._counted[kind] = _Counted()
        for counted in due.values():
            more = f" (and {counted.count - 1} more like it since the last warning)" if counted.count > 1 else ""
            if counted.count > 0:
                logger.log(counted.level, counted.last + more, exc_info=counted.error)
