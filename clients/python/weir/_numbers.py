"""Options that are numbers. One that makes no sense is refused when it is given, and not met later as an outage of Weir."""

from __future__ import annotations

from numbers import Real
from typing import Any

#: The longest that a socket or a lock can wait on every system: 24 days.
WAIT_MAX = 24 * 86_400.0


def read_seconds(name: str, value: Any, *, may_be_zero: bool = True) -> float:
    """Returns a time in seconds; ``math.inf`` becomes the longest that can be waited. Raises a ValueError where it is none."""
    if isinstance(value, Real) and (value > 0 or (may_be_zero and value == 0)):
        return min(float(value), WAIT_MAX)
    raise ValueError(f"{name} must be a number of seconds {'from 0' if may_be_zero else 'above 0'}, and not {value!r}")


def read_wait(name: str, value: Any) -> float:
    """The same of a call that may wait: what is below 0 is over already, such as what is left until a deadline."""
    return 0.0 if isinstance(value, Real) and value < 0 else read_seconds(name, value)


def read_retries(value: Any) -> float:
    """Returns the number of retries, which may be ``math.inf``. Raises a ValueError where it is none."""
    if isinstance(value, Real) and value >= 0:
        return value  # type: ignore[return-value]
    raise ValueError(f"retries must be a number from 0, and not {value!r}")
