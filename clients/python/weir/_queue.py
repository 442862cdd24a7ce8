"""Sends queued events in the background: in batches, a few at once, again and again until each is settled.

It holds what it has in a store, which is bounded: who queues faster than Weir takes is made to wait, or refused.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import math
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Callable, List, Optional, Set, Tuple, Union

from ._answer import BatchOutcome
from ._deliver import SendBatch, deliver, is_settled
from ._errors import WeirError, with_keys
from ._event import Encoded, Event, decode
from ._limits import BATCH_EVENTS_MAX
from ._numbers import WAIT_MAX, read_seconds, read_wait
from ._outbox import Outbox
from ._outbox_owner import LOOK_INTERVAL
from ._retry import OnRetry, Stopped
from ._store import MemoryStore, Store
from ._warnings import Warnings, logger

#: So much of a request's limit of 10 MB that other limits on the way are kept too.
_BATCH_BYTES_MAX = 1024 * 1024

#: Events are not thrown away because their request was refused, nor an outbox because a key was wrong. After so long it is tried again.
_REFUSED_PAUSE = 60.0

#: After so many attempts of one batch, some seconds, an outage is told of.
_FAILURES_MAX = 6


@dataclass(frozen=True)
class QueueOptions:
    """How ``Client.queue`` sends in the background. Times are in seconds."""

    #: Events that are held in memory.
    events_max: int = 10_000
    #: Bytes of JSON that are held in memory.
    bytes_max: int = 16 * 1024 * 1024
    #: When no more can be held: ``wait`` holds the call of ``queue`` back, ``raise`` raises ``queue_full``.
    when_full: str = "wait"
    #: Events in one request, 1 to ``BATCH_EVENTS_MAX``. As soon as so many wait they are sent.
    batch_events_max: int = 500
    #: The longest that an event waits for others.
    interval: float = 1.0
    #: Requests at a time, each in a thread of its own.
    concurrency: int = 2
    #: Told of each event that is refused for good, in a thread of the queue. Such an event is not sent again and kept nowhere: write it
    #: down. Default: an error in the log ``weir``, at once of the first and once a minute of how many.
    on_refused: Optional[Callable[[WeirError, Event], None]] = None
    #: Keeps events on disk in this folder until they are settled, so that they outlive the process: one on a local disk. Processes of one machine
    #: may share it.
    outbox: Union[str, "os.PathLike[str]", None] = None
    #: Bytes on disk from which on the outbox is full.
    outbox_bytes_max: int = 256 * 1024 * 1024
    #: How long a process that ends waits for what is queued, and the end of a ``with`` statement.
    exit_timeout: float = 10.0
    #: Whether SIGTERM ends the process as ``sys.exit`` does, which sends what is queued. Only in the main thread, and only where
    #: SIGTERM has no other handler.
    exit_on_sigterm: bool = False

    def __post_init__(self) -> None:
        for name, value, most in (
            ("events_max", self.events_max, math.inf),
            ("bytes_max", self.bytes_max, math.inf),
            ("outbox_bytes_max", self.outbox_bytes_max, math.inf),
            ("batch_events_max", self.batch_events_max, BATCH_EVENTS_MAX),
            ("concurrency", self.concurrency, 1000),
        ):
            if not isinstance(value, int) or not 1 <= value <= most:
                raise ValueError(f"{name} must be a whole number from 1" + ("" if math.isinf(most) else f" to {most}"))
        for name, seconds in (("interval", self.interval), ("exit_timeout", self.exit_timeout)):
            read_seconds(name, seconds)
        if self.when_full not in ("wait", "raise"):
            raise ValueError("when_full must be 'wait' or 'raise'")


@dataclass(frozen=True)
class CloseResult:
    #: Whether every event was settled.
    is_done: bool
    #: Events that were held in memory and have no answer. They are yours now, with the keys that they were sent with.
    unsent: List[Event] = field(default_factory=list)


class EventQueue:
    def __init__(
        self,
        send_batch: SendBatch,
        abort: Callable[[], Set[int]],
        on_retry: Optional[OnRetry],
        options: QueueOptions,
    ) -> None:
        """``abort`` ends the requests that are under way, and returns the threads in which nothing can."""
        self._send_batch = send_batch
        self._abort = abort
        self._warnings = Warnings()
        self._on_retry = on_retry
        self._options = options
        self._store: Store = (
            MemoryStore(options.events_max, options.bytes_max)
            if options.outbox is None
            else Outbox(os.fspath(options.outbox), options.outbox_bytes_max, self._warnings)
        )
        self._reset()
        atexit.register(self._close_at_exit)
        if options.exit_on_sigterm:
            _exit_on_sigterm()
        if self._store.waiting > 0:
            self._send_now()
        self._start_looking()

    def _reset(self) -> None:
        #: Notified when anything below changes.
        self._changed = threading.Condition()
        self._halt = threading.Event()
        self._threads: List[threading.Thread] = []
        #: Coroutines that wait for room, and the loops that they run in.
        self._waiters: List[Tuple[asyncio.AbstractEventLoop, "asyncio.Future[None]"]] = []
        self._writer: Optional[ThreadPoolExecutor] = None
        self._looker: Optional[threading.Thread] = None
        self._stop_looking = threading.Event()
        self._in_flight = 0
        #: Calls of ``flush`` that wait: the number of the last event that each of them waits for.
        self._flushes: List[int] = []
        #: Those of them that had all of theirs settled when the queue was closed.
        self._flushed: List[int] = []
        #: When what waits is sent although it fills no batch.
        self._due: Optional[float] = None
        #: What is kept although it was refused, held out of the way until it is tried again.
        self._aside: List[Encoded] = []
        #: When that is; None when nothing rests.
        self._rest_until: Optional[float] = None
        #: Nothing at all is sent during the rest.
        self._is_paused = False
        #: Whether it was said that something is kept; the last try of a close does not say it again.
        self._is_told = False
        #: Whether Weir took something since an event was last refused doubtfully: then not everything is refused.
        self._is_heard = False
        self._is_closing = False
        self._result: Optional[CloseResult] = None

    def after_fork(self) -> None:
        """In the child of a fork: what is queued, and the threads, are those of the parent."""
        self._store.after_fork()
        self._warnings.after_fork()
        was_closed = self._is_closing
        self._reset()
        self._is_closing = was_closed
        # So that what a sibling leaves is found, also by one that has queued nothing yet.
        self._start_looking()

    def before_fork(self) -> None:
        """A process that has queued nothing, such as one that only forks its workers, forks without a thread."""
        looker, self._looker = self._looker, None
        if looker is not None and looker is not threading.current_thread():
            self._stop_looking.set()
            looker.join()

    def after_fork_in_parent(self) -> None:
        # Else with its next event.
        if self._threads:
            self._start_looking()

    @property
    def size(self) -> int:
        with self._changed:
            return self._store.size

    def add(self, event: Encoded, timeout: Optional[float]) -> None:
        size = len(event.line)
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        with self._changed:
            self._throw_if_closed(event)
            while not self._store.has_room(size):
                self._changed.wait(self._seconds_for_room(event, deadline))
                self._throw_if_closed(event)
            held = self._store.put(event)
        self._write(held)

    async def add_async(self, event: Encoded, timeout: Optional[float]) -> None:
        size = len(event.line)
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        loop = asyncio.get_running_loop()
        while True:
            with self._changed:
                self._throw_if_closed(event)
                if self._store.has_room(size):
                    held = self._store.put(event)
                    break
                seconds = self._seconds_for_room(event, deadline)
                waiter = (loop, loop.create_future())
                self._waiters.append(waiter)
            try:
                # Others who wait, too, may take the room before; then this one waits on.
                await asyncio.wait_for(waiter[1], seconds)
            except asyncio.TimeoutError:
                continue
            finally:
                with self._changed:
                    if waiter in self._waiters:
                        self._waiters.remove(waiter)
        if not self._store.is_durable:
            self._write(held)
            return
        with self._changed:
            # One thread: what comes while it writes is in its next write, all of it.
            if self._writer is None:
                self._writer = ThreadPoolExecutor(1, "weir-writer")
            writer = self._writer
        try:
            writing = loop.run_in_executor(writer, self._write, held)
        except RuntimeError:
            # It was closed in this moment. What was put is written all the same, for the next process.
            self._write(held)
        else:
            # Whoever is cancelled waits no longer; what was put is written all the same, and an error of that is nobody's any more.
            writing.add_done_callback(lambda future: future.cancelled() or future.exception())
            await asyncio.shield(writing)

    def _seconds_for_room(self, event: Encoded, deadline: float) -> float:
        """How long to wait for room before the next look; raises where there is nothing to wait for."""
        self._send_now()
        left = deadline - time.monotonic()
        if self._options.when_full == "raise" or left <= 0:
            raise _queue_full(event)
        return min(left, WAIT_MAX)

    def _write(self, held: Any) -> None:
        try:
            self._store.write(held)
        except BaseException:
            # What could not be written took room on its way to the disk.
            with self._changed:
                self._tell_all()
            raise
        with self._changed:
            self._start_threads()
            self._start_looking()
            if self._flushes:
                # It may wait for this one, which was on its way to the disk.
                self._send_now()
            is_new = self._due is None
            if self._due is None:
                self._due = time.monotonic() + min(self._options.interval, WAIT_MAX)
            if is_new or self._store.waiting >= self._options.batch_events_max:
                self._changed.notify_all()

    def _tell_all(self) -> None:
        """Wakes who waits for a change, threads and coroutines."""
        self._changed.notify_all()
        waiters, self._waiters = self._waiters, []
        for loop, future in waiters:
            try:
                loop.call_soon_threadsafe(_release, future)
            except RuntimeError:
                # The loop was closed, and nobody waits in it.
                pass

    def flush(self, timeout: Optional[float]) -> bool:
        seconds = None if timeout is None else read_wait("timeout", timeout)
        with self._changed:
            last = self._store.last
            self._flushes.append(last)
            self._send_now()
            try:
                self._changed.wait_for(lambda: self._result is not None or self._is_settled_to(last), seconds)
                if self._result is not None:
                    # Nothing more is settled, and what was given back is held no more.
                    return self._result.is_done or last in self._flushed
                return self._is_settled_to(last)
            finally:
                self._flushes.remove(last)

    def close(self, seconds: float) -> CloseResult:
        with self._changed:
            self._is_closing = True
            if seconds > 0:
                # What was refused is tried once more: a proxy may have said so while Weir was started anew.
                self._end_rest()
            self._tell_all()
            self._changed.wait_for(lambda: self._is_idle or self._is_over or self._halt.is_set(), seconds)
            self._halt.set()
            self._stop_looking.set()
            self._tell_all()
            threads = [*self._threads, *([] if self._looker is None else [self._looker])]
            writer = self._writer
        # One of them calls this itself when `on_refused` does.
        not_waited_for = {*self._abort(), threading.get_ident()}
        for thread in threads:
            if thread.ident not in not_waited_for:
                thread.join()
        if writer is not None:
            writer.shutdown()
        self._warnings.flush()
        with self._changed:
            if self._result is None:
                self._store.give_back(self._aside)
                self._aside = []
                is_done = self._store.is_empty
                self._flushed = [last for last in self._flushes if self._is_settled_to(last)]
                self._result = CloseResult(is_done, [decode(event.line) for event in self._store.close()])
                atexit.unregister(self._close_at_exit)
                # Those who flush wait for nothing more.
                self._tell_all()
            return self._result

    def _close_at_exit(self) -> None:
        tell_unsent("The process", self.close(min(self._options.exit_timeout, WAIT_MAX)))

    def _throw_if_closed(self, event: Encoded) -> None:
        if self._is_closing:
            raise WeirError(
                status=0,
                code="queue_closed",
                detail="The client was closed: make another one",
                transient=False,
                idempotency_keys=(event.key,),
            )

    def _is_settled_to(self, last: int) -> bool:
        return self._is_idle or self._store.is_settled_to(last)

    @property
    def _is_idle(self) -> bool:
        return self._in_flight == 0 and self._store.is_empty

    @property
    def _is_over(self) -> bool:
        """While closing: whether what is left was tried once. What is under way goes on, whatever was refused beside it."""
        is_tried = bool(self._aside) and self._store.waiting == 0
        return not self._threads or (self._in_flight == 0 and (self._is_paused or is_tried))

    def _send_now(self) -> None:
        with self._changed:
            # Not told again of what is due already: those who wait for room would wake each other for ever.
            if self._store.waiting > 0 and self._due != 0.0:
                self._due = 0.0
                self._start_threads()
                self._changed.notify_all()

    def _start_threads(self) -> None:
        # Not at exit, when Python starts no more: with the first event.
        while len(self._threads) < self._options.concurrency:
            thread = threading.Thread(target=self._work, name=f"weir-{len(self._threads)}", daemon=True)
            if not self._is_started(thread):
                return
            self._threads.append(thread)

    def _start_looking(self) -> None:
        """Has a thread look for what other processes leave, where there is an outbox and none does already."""
        with self._changed:
            if self._looker is not None or self._is_closing or not isinstance(self._store, Outbox):
                return
            self._stop_looking = threading.Event()
            looker = threading.Thread(
                target=self._look, args=(self._store, self._stop_looking), name="weir-outbox", daemon=True
            )
            self._looker = looker if self._is_started(looker) else None

    def _is_started(self, thread: threading.Thread) -> bool:
        try:
            thread.start()
        except RuntimeError as error:
            # The process may have no more of them now. What is queued is held, and the next event tries again.
            self._warnings.warn("thread", logging.ERROR, f"The queue cannot start a thread: {error}")
            return False
        return True

    def _look(self, outbox: Outbox, stop: threading.Event) -> None:
        while not stop.wait(LOOK_INTERVAL):
            if outbox.look():
                self._send_now()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._halt.is_set() and (seconds := self._seconds_to_wait()) != 0:
                    self._changed.wait(seconds)
                if self._halt.is_set():
                    return
                self._in_flight += 1
            try:
                self._send_one()
            except Exception:
                # A thread that ended would never be missed.
                with self._changed:
                    self._pause()
                logger.exception("Sending failed in a way that nobody thought of; the queue goes on after a rest")
            finally:
                with self._changed:
                    self._in_flight -= 1
                    if self._store.waiting == 0:
                        self._due = None
                    self._tell_all()
                self._warnings.say_due()

    def _seconds_to_wait(self) -> Optional[float]:
        """0 when there is something to send; None when only a change can bring something."""
        now = time.monotonic()
        if self._rest_until is not None and self._rest_until <= now:
            self._is_told = False
            self._end_rest()
        rest = None if self._rest_until is None else self._rest_until - now
        waiting = self._store.waiting
        if self._is_paused or waiting == 0:
            return rest
        if waiting >= self._options.batch_events_max:
            return 0
        due = None if self._due is None else max(0.0, self._due - now)
        return min((each for each in (due, rest) if each is not None), default=None)

    def _send_one(self) -> None:
        limits = (self._options.batch_events_max, _BATCH_BYTES_MAX)
        if self._store.is_durable:
            events = self._store.take(*limits)
        else:
            with self._changed:
                events = self._store.take(*limits)
        if not events:
            return
        try:
            delivery = deliver(events, self._send_batch, math.inf, self._listener(), self._sleep)
        except Exception:
            # Nobody knows what became of them, so they are sent again, and counted once by their keys.
            with self._changed:
                self._store.give_back(events)
                self._pause()
            logger.exception("Sending failed in a way that nobody thought of; the events are kept and sent again")
            return
        doubtful = delivery.doubtful
        refusal = delivery.failure if isinstance(delivery.failure, WeirError) else None
        settled: List[Encoded] = []
        refused: List[Tuple[WeirError, Encoded]] = []
        left: List[Encoded] = []
        aside: List[Encoded] = []
        about_client: Optional[WeirError] = None
        for index, (event, last) in enumerate(zip(events, delivery.outcomes)):
            outcome: Optional[BatchOutcome] = last if is_settled(last) else refusal
            error = doubtful.get(index) or (outcome if isinstance(outcome, WeirError) else None)
            # Only what Weir says of an event settles it. A wrong key does so in memory, which would fill up; an outbox outlives it.
            if error is not None and (
                self._store.is_durable if _is_about_key(error) else error is refusal or index in doubtful
            ):
                if index not in doubtful:
                    about_client = error
                aside.append(event)
            elif outcome is None:
                left.append(event)
            elif error is not None:
                refused.append((error, event))
            else:
                settled.append(event)
        with self._changed:
            self._aside += aside
            self._store.give_back(left)
            if left:
                # They were due. Another thread, which found nothing left to send, may have taken that back.
                self._due = 0.0
            self._store.settle(settled)
            if not self._store.is_durable:
                self._store.settle([event for _, event in refused])
            self._is_heard = self._is_heard or bool(settled) or bool(refused)
            if about_client is not None:
                self._rest(about_client, True)
            if doubtful:
                self._rest(next(iter(doubtful.values())), not self._is_heard)
                self._is_heard = False
        for error, event in refused:
            self._tell(error, event)
            if self._store.is_durable:
                # Not before: a process that is killed meanwhile leaves the event to the next one, which is told of it again.
                self._store.settle([event])
        # Before those who wait for room are told.
        self._store.compact()

    def _rest(self, error: WeirError, is_pause: bool) -> None:
        """Tries again after a while what was put aside. Nothing else is sent until then when everything seems to be refused."""
        # Of several requests under way the first one says it.
        if not self._is_told and not self._halt.is_set():
            self._is_told = True
            who = "Weir" if error.is_from_weir else "What answers in place of Weir, such as a proxy,"
            what = "what is sent" if is_pause else f"some of what is sent, such as the event {error.idempotency_keys[0]}"
            logger.error("%s refuses %s, and the client keeps it: %s", who, what, error)
        self._begin_rest()
        self._is_paused = self._is_paused or is_pause

    def _pause(self) -> None:
        self._begin_rest()
        self._is_paused = True

    def _begin_rest(self) -> None:
        if self._rest_until is None:
            self._rest_until = time.monotonic() + _REFUSED_PAUSE

    def _end_rest(self) -> None:
        self._rest_until = None
        self._is_paused = False
        # Behind the others, which may be taken.
        self._store.give_back(self._aside, behind=True)
        self._aside = []
        self._send_now()

    def _sleep(self, seconds: float) -> None:
        if self._halt.wait(seconds):
            raise Stopped

    def _tell(self, error: WeirError, event: Encoded) -> None:
        if self._options.on_refused is None:
            told = f"Weir refused the event {event.key} for good, and no on_refused keeps it: {error}"
            self._warnings.warn("refused", logging.ERROR, told)
            return
        try:
            # One error may be about all events of a request: each is told of its own key.
            self._options.on_refused(with_keys(error, (event.key,)), decode(event.line))
        except BaseException as failure:
            # It is the caller's, and must not stop the queue: nobody would miss the thread.
            self._warnings.warn("on_refused", logging.ERROR, f"on_refused failed for the event {event.key}", failure)

    def _listener(self) -> OnRetry:
        """Of one batch."""
        failures = 0

        def call(error: WeirError, delay: float) -> None:
            nonlocal failures
            failures += 1
            if failures >= _FAILURES_MAX:
                self._warnings.warn("away", logging.ERROR, f"What is queued waits: {error}")
            try:
                if self._on_retry is not None:
                    self._on_retry(error, delay)
            except BaseException as failure:
                # It is the caller's, and must not stop the queue: nobody would miss the thread.
                self._warnings.warn("on_retry", logging.ERROR, "on_retry failed", failure)

        return call


def tell_unsent(what: str, result: CloseResult) -> None:
    """For those to whom nobody gives the result of a close, and what is in it is lost."""
    if result.unsent:
        logger.error("%s ends with %d events that were not sent.", what, len(result.unsent))


def _release(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


def _is_about_key(error: WeirError) -> bool:
    """Whether Weir says it of the key."""
    return error.is_from_weir and error.status in (401, 403)


def _queue_full(event: Encoded) -> WeirError:
    return WeirError(
        status=0,
        code="queue_full",
        detail="The queue holds as much as it may: queue the event again later, or set when_full to wait",
        idempotency_keys=(event.key,),
    )


def _exit_on_sigterm() -> None:
    in_main = threading.current_thread() is threading.main_thread()
    if in_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        # As a shell reports a process that SIGTERM has ended.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
