"""Sends a batch until each of its events is settled, or until the retries end. What is settled is not sent again."""

from __future__ import annotations

from typing import Callable, List, Optional, Sequence, Tuple

from ._answer import Answer, BatchOutcome, settle, split_answer
from ._errors import WeirError
from ._event import Encoded
from ._retry import OnRetry, Stopped, with_retries

SendBatch = Callable[[bytes, Sequence[str]], Answer]

#: So many single events are sent to a proxy that refuses them, and then no more of the batch.
_FOREIGN_MAX = 3


def deliver(
    events: Sequence[Encoded],
    send_batch: SendBatch,
    retries: float,
    on_retry: Optional[OnRetry],
    sleep: Callable[[float], object],
) -> Tuple[List[Optional[BatchOutcome]], Optional[Exception]]:
    """Returns what became of each event, None where the service has said nothing about it; and why some are not settled.

    That is a WeirError about the request as a whole, or Stopped.
    """
    outcomes: List[Optional[BatchOutcome]] = [None] * len(events)
    foreign: List[WeirError] = []

    def settle_all(positions: List[int]) -> None:
        pending = positions

        def attempt() -> None:
            nonlocal pending
            keys = [events[position].key for position in pending]
            body = b'{"events":[' + b",".join(events[position].line for position in pending) + b"]}"
            answers = split_answer(send_batch(body, keys), keys)
            left: List[int] = []
            failure: Optional[WeirError] = None
            for position, key, answer in zip(pending, keys, answers):
                outcome = _settle_or_error(answer, key)
                outcomes[position] = outcome
                if not is_settled(outcome):
                    left.append(position)
                    failure = outcome if isinstance(outcome, WeirError) else failure
            pending = left
            if failure is not None:
                raise failure

        try:
            with_retries(attempt, retries, on_retry, sleep)
        except WeirError as error:
            if error.status not in (400, 413):
                raise
            if len(pending) == 1:
                if error.is_from_weir:
                    outcomes[pending[0]] = error
                    return
                # What a proxy refuses may be taken another time. Others are not held up by one that is too large for it.
                foreign.append(error)
                if len(foreign) >= _FOREIGN_MAX:
                    raise
                return
            # One event can make the whole request too large or unreadable: the halves find it.
            half = (len(pending) + 1) // 2
            first, second = pending[:half], pending[half:]
            settle_all(first)
            settle_all(second)

    try:
        settle_all(list(range(len(events))))
    except (WeirError, Stopped) as failure:
        return outcomes, failure
    return outcomes, foreign[0] if foreign else None


def is_settled(outcome: Optional[BatchOutcome]) -> bool:
    """Whether nothing more will become of the event: it is kept, or refused for good."""
    return outcome is not None and not (isinstance(outcome, WeirError) and outcome.transient)


def _settle_or_error(answer: Answer, key: str) -> BatchOutcome:
    try:
        return settle(answer, key)
    except WeirError as error:
        return error
