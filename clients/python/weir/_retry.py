from __future__ import annotations

import math
import random
import time
from typing import Callable, Optional, TypeVar

from ._errors import WeirError, may_be_accepted, with_outcome

T = TypeVar("T")

#: Called with each failure that will be retried and the wait in seconds.
OnRetry = Callable[[WeirError, float], None]

_DELAY_FIRST = 0.25
_DELAY_MAX = 10.0
#: When the service asks for a longer wait than this, the caller decides.
_RETRY_AFTER_MAX = 60.0


class Stopped(Exception):
    """The wait for the next attempt was ended."""


def with_retries(
    attempt: Callable[[], T],
    retries: float,
    on_retry: Optional[OnRetry] = None,
    sleep: Callable[[float], object] = time.sleep,
    retried: int = 0,
) -> T:
    """Calls ``attempt`` until it succeeds, and waits between tries.

    Raises what it raised when that is not transient, when the retries are used up, or when they are numbered and the service asks
    for more than a minute. Without a limit the caller has decided to wait, however long the service asks for. ``retried`` is how many
    of the retries were made before.

    What it raises is told of all attempts: when the last one was not accepted and one before it may have been, the outcome is unknown.
    """
    tries = retried
    doubtful = retried > 0
    while True:
        try:
            return attempt()
        except WeirError as error:
            asked = error.retry_after or 0.0
            if not error.transient or tries >= retries or (asked > _RETRY_AFTER_MAX and not math.isinf(retries)):
                if doubtful and not may_be_accepted(error):
                    raise with_outcome(error, "unknown") from error.__cause__
                raise
            doubtful = doubtful or may_be_accepted(error)
            delay = max(min(asked, _RETRY_AFTER_MAX), backoff(tries))
            if on_retry is not None:
                on_retry(error, delay)
        sleep(delay)
        tries += 1


def backoff(tries: int) -> float:
    """Any time up to the exponential limit (full jitter), so that clients which were stopped together come back apart."""
    return random.uniform(0, min(_DELAY_MAX, _DELAY_FIRST * 2.0 ** min(tries, 10)))
