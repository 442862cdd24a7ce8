"""Sends a batch until each of its events is settled, or until the retries end. What is settled is not sent again."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Callable, Dict, List, Optional, Sequence, Set

from ._answer import Answer, BatchOutcome, settle, split_answer
from ._errors import WeirError, may_be_accepted, with_outcome
from ._event import Encoded
from ._retry import OnRetry, Stopped, with_retries

SendBatch = Callable[[bytes, Sequence[str]], Answer]

#: So many single events are tried that are refused doubtfully, and then only the last of the batch: everything may be refused.
_DOUBTFUL_MAX = 3

#: So often the same events are sent without an answer in time. Then they may be too many for the way to Weir, and go in halves.
_LATE_MAX = 2

#: What is left of the limit of events of one API key, as Weir says it.
_ROOM = re.compile(r'"events-per-key";r=(\d+)')

#: The codes by which Weir refuses a whole batch because of one event. Any other is about the request: its key, its address, its HTTP.
_OF_CONTENT = ("malformed_json", "payload_too_large")

#: What a proxy does not say of the content of a request: the key, the address, the time, the number of requests.
_NOT_OF_CONTENT = (401, 404, 405, 407, 408, 429)


@dataclass
class Delivery:
    #: In the order of the events; None where the service has said nothing about an event.
    outcomes: List[Optional[BatchOutcome]]
    #: Refusals of single events that may come from a proxy, by the places of the events: another time they may be taken.
    doubtful: Dict[int, WeirError] = field(default_factory=dict)
    #: Why the others that are not settled are not: a WeirError about the request as a whole, or Stopped. None where they were not
    #: tried, because enough of the batch was refused doubtfully.
    failure: Optional[Exception] = None


def deliver(
    events: Sequence[Encoded],
    send_batch: SendBatch,
    retries: float,
    on_retry: Optional[OnRetry],
    sleep: Callable[[float], object],
) -> Delivery:
    """Returns what became of each event. Never raises but for a defect."""
    delivery = Delivery([None] * len(events))
    outcomes, doubtful = delivery.outcomes, delivery.doubtful
    #: Events that an attempt may have been accepted of without a word.
    perhaps: Set[int] = set()

    def settle_all(positions: List[int], retried: int = 0) -> None:
        """``retried`` is how often these were sent again before, with others."""
        pending = positions
        late = 0

        def attempt() -> None:
            nonlocal late, pending
            most = len(pending)
            # Also without an event: what is said of that is for Weir to say.
            while True:
                if late >= _LATE_MAX and len(pending) > 1:
                    return
                sent = pending[:most]
                keys = [events[position].key for position in sent]
                body = b'{"events":[' + b",".join(events[position].line for position in sent) + b"]}"
                try:
                    answer = send_batch(body, keys)
                    room = _room_in(answer)
                    if 0 < room < len(sent):
                        most = room
                        continue
                    answers = split_answer(answer, keys)
                except WeirError as error:
                    if error.transient and may_be_accepted(error):
                        perhaps.update(sent)
                    raise
                left: List[int] = []
                failure: Optional[WeirError] = None
                for position, key, each in zip(sent, keys, answers):
                    outcome = _settle_or_error(each, key)
                    if isinstance(outcome, WeirError) and outcome.transient and may_be_accepted(outcome):
                        perhaps.add(position)
                    outcomes[position] = outcome
                    if not is_settled(outcome):
                        left.append(position)
                        failure = outcome if isinstance(outcome, WeirError) else failure
                late = 0
                pending = left + pending[len(sent) :]
                if failure is not None:
                    raise failure
                if not pending:
                    return
                most = len(pending)

        def count(error: WeirError, delay: float) -> None:
            nonlocal late, retried
            retried += 1
            if _is_late(error):
                late += 1
            if on_retry is not None:
                on_retry(error, delay)

        try:
            with_retries(attempt, retries, count, sleep, retried)
            if not pending:
                return
        except WeirError as error:
            if not _is_about_content(error):
                raise
            if len(pending) == 1:
                if _is_about_event(error):
                    outcomes[pending[0]] = error
                else:
                    doubtful[pending[0]] = error
                return
        # They are too many for the way. Or one of them makes the whole request too large, unreadable, or an attack in the eyes of a
        # proxy: the halves find it.
        half = (len(pending) + 1) // 2
        for part in (pending[:half], pending[half:]):
            if len(doubtful) < _DOUBTFUL_MAX:
                settle_all(part, retried)
            elif part[-1] == len(events) - 1:
                settle_all(part[-1:], retried)

    try:
        settle_all(list(range(len(events))))
    except (WeirError, Stopped) as failure:
        delivery.failure = failure
    # Told of all attempts: what the last one that was answered says of an event may not be so of another one.
    for position in perhaps:
        outcome = outcomes[position]
        if isinstance(outcome, WeirError) and outcome.transient and not may_be_accepted(outcome):
            outcomes[position] = with_outcome(outcome, "unknown")
    return delivery


def is_settled(outcome: Optional[BatchOutcome]) -> bool:
    """Whether nothing more will become of the event: it is kept, or refused for good."""
    return outcome is not None and not (isinstance(outcome, WeirError) and outcome.transient)


def _room_in(answer: Answer) -> int:
    """How many events Weir still takes in this minute, where it refuses a request because there are more. Else 0."""
    if not answer.is_from_weir or answer.status != 429:
        return 0
    room = _ROOM.search(answer.headers.get("ratelimit") or "")
    return int(room[1]) if room else 0


def _is_late(error: WeirError) -> bool:
    return error.status == 408 or error.code == "timeout"


def _is_about_content(error: WeirError) -> bool:
    """Whether one event may be why the whole request was refused. A proxy may take an event for an attack, by many a status."""
    if error.is_from_weir:
        return error.code in _OF_CONTENT
    return 400 <= error.status < 500 and error.status not in _NOT_OF_CONTENT


def _is_about_event(error: WeirError) -> bool:
    """Whether the one event of a request is why it was refused, for certain.

    Weir names an event that is no JSON: a proxy that takes bodies off, or spoils them, has it say only that the body is none. Nothing
    on the way makes a body too large.
    """
    if not error.is_from_weir:
        return False
    return error.code == "payload_too_large" or any(str(each.get("path")).startswith("events[") for each in error.errors)


def _settle_or_error(answer: Answer, key: str) -> BatchOutcome:
    try:
        return settle(answer, key)
    except WeirError as error:
        return error
