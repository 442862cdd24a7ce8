from __future__ import annotations

import copy
from typing import Any, Mapping, Optional, Sequence, Tuple


class WeirError(Exception):
    """A call that did not succeed.

    To send events again is safe with the same keys: put ``idempotency_keys[i]`` into the i-th event of the call.
    """

    #: The HTTP status, or 0 when no answer came.
    status: int
    #: A stable word: the service's own ``code``, else ``network_error``, ``timeout``, ``bad_response``,
    #: ``secret_lost``, ``answer_withheld`` or ``http_<status>``;
    #: of the queue ``queue_full``, ``queue_closed`` or ``outbox_failed``; of ``verify_webhook`` ``webhook_not_verified``.
    code: str
    #: A sentence that a person can act on.
    detail: str
    #: The service's id of the request, as in its logs.
    request_id: Optional[str]
    #: Whether the same call may succeed later.
    transient: bool
    #: Whether Weir itself said it. False for what a proxy before it answers, or whatever else is at that address: that says nothing
    #: about an event.
    is_from_weir: bool
    #: How long the service asked to wait, in seconds.
    retry_after: Optional[float]
    #: What became of the call, or of an event of it, where a 503 or 429 of the service ended it: ``not_accepted`` left no trace, at none of
    #: the attempts; ``unknown`` is settled by the same keys.
    outcome: Optional[str]
    #: The fields that the service refused, each with ``path`` and ``message``.
    errors: Tuple[Mapping[str, str], ...]
    #: The keys that went with the events of this call, in their order, or the one of a write. Generated ones included.
    idempotency_keys: Tuple[str, ...]

    def __init__(
        self,
        *,
        status: int,
        code: str,
        detail: str,
        request_id: Optional[str] = None,
        transient: Optional[bool] = None,
        retry_after: Optional[float] = None,
        outcome: Optional[str] = None,
        is_from_weir: bool = False,
        errors: Sequence[Mapping[str, str]] = (),
        idempotency_keys: Sequence[str] = (),
    ) -> None:
        super().__init__(f"{code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail
        self.request_id = request_id
        self.transient = is_transient(status, code) if transient is None else transient
        self.is_from_weir = is_from_weir
        self.retry_after = retry_after
        self.outcome = outcome
        self.errors = tuple(errors)
        self.idempotency_keys = tuple(idempotency_keys)

    def __reduce__(self) -> Tuple[Any, ...]:
        # Pickle calls with positions what an exception was made with; this one takes names. It crosses processes in pools.
        return _restore, (self.status, self.code, self.detail), self.__dict__


def with_keys(error: WeirError, keys: Sequence[str], transient: Optional[bool] = None) -> WeirError:
    """Returns the same error, told of the events with these keys."""
    told = copy.copy(error)
    told.__cause__ = error.__cause__
    told.idempotency_keys = tuple(keys)
    told.transient = error.transient if transient is None else transient
    return told


def with_outcome(error: WeirError, outcome: str) -> WeirError:
    """Returns the same error, told of all attempts of a call."""
    told = copy.copy(error)
    told.__cause__ = error.__cause__
    told.outcome = outcome
    return told


def may_be_accepted(error: WeirError) -> bool:
    """Whether the attempt that ended so may have done what was asked. What asks for too much is refused before."""
    return error.outcome != "not_accepted" and error.status != 429


def _restore(status: int, code: str, detail: str) -> WeirError:
    return WeirError(status=status, code=code, detail=detail)


def is_transient(status: int, code: str) -> bool:
    """Whether the same request may succeed later.

    No answer to read, too slow, too many, a fault of the service, or the same request is under way already.
    """
    return status in (0, 408, 429) or status >= 500 or code == "request_under_way"
