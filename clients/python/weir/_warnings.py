from __future__ import annotations

import logging
import threading
from typing import Dict, Optional

logger = logging.getLogger("weir")

#: After the first of many alike, the next one is said so much later, with how many there were. In seconds.
INTERVAL = 60.0


class _Counted:
    def __init__(self, timer: threading.Timer) -> None:
        self.count = 0
        self.level = logging.WARNING
        self.last = ""
        self.error: Optional[BaseException] = None
        self.timer = timer


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
            if counted is not None:
                counted.count += 1
                counted.level, counted.last, counted.error = level, message, error
                return
            self._count(kind)
        logger.log(level, message, exc_info=error)

    def flush(self) -> None:
        """Says what was counted and not said, and begins anew."""
        with self._lock:
            counted, self._counted = self._counted, {}
        for each in counted.values():
            each.timer.cancel()
            self._say(each)

    def _count(self, kind: str) -> None:
        timer = threading.Timer(self._interval, self._say_counted, (kind,))
        timer.daemon = True
        self._counted[kind] = _Counted(timer)
        timer.start()

    def _say_counted(self, kind: str) -> None:
        with self._lock:
            counted = self._counted.pop(kind, None)
            if counted is not None and counted.count > 0:
                self._count(kind)
        if counted is not None:
            self._say(counted)

    def _say(self, counted: _Counted) -> None:
        more = f" (and {counted.count - 1} more like it since the last warning)" if counted.count > 1 else ""
        if counted.count > 0:
            logger.log(counted.level, counted.last + more, exc_info=counted.error)
