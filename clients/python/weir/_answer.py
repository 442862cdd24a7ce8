from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ._errors import WeirError


@dataclass(frozen=True)
class Tracked:
    """Weir keeps the event, and counts it exactly once."""

    #: The event's id; for a duplicate the id of the event that was accepted first.
    id: str
    #: True when an event with this key had been accepted before: nothing was added.
    duplicate: bool


@dataclass(frozen=True)
class Reply:
    """All of an answer."""

    status: int
    #: A dictionary in the API's own words; empty where that is nothing.
    body: Any
    #: Of a write that was made before: what of its answer is not shown again, such as a secret. Else empty.
    withheld: Sequence[str]
    #: Names what was answered, for ``if_match`` and ``if_none_match``. Lists have none.
    etag: Optional[str]
    #: By their names in small letters.
    headers: Mapping[str, str]


#: What became of one event of a batch: Weir keeps it, or the error says why not.
BatchOutcome = Union[Tracked, WeirError]


@dataclass(frozen=True)
class Answer:
    """What the service said, about a request or about one event of a batch."""

    status: int
    #: Empty when the body was no JSON object.
    body: Dict[str, Any]
    request_id: Optional[str] = None
    retry_after: Optional[float] = None
    #: Whether Weir itself said it: a proxy before it answers for it, too, and knows nothing of events.
    is_from_weir: bool = False
    #: By their names in small letters.
    headers: Mapping[str, str] = field(default_factory=dict)
    #: The body as it came.
    content: bytes = b""


def read_answer(status: int, body: bytes, headers: Mapping[str, str]) -> Answer:
    try:
        parsed = json.loads(body)
    except ValueError:
        parsed = None
    fields = parsed if isinstance(parsed, dict) else {}
    request_id = _text(fields.get("request_id")) or headers.get("x-request-id")
    # Problems of others have no code and no request_id.
    is_problem = (headers.get("content-type") or "").startswith("application/problem+json")
    is_complete = _text(fields.get("code")) is not None and _text(fields.get("request_id")) is not None
    is_from_weir = is_problem and is_complete and fields.get("status") == status
    return Answer(status, fields, request_id, parse_retry_after(headers.get("retry-after")), is_from_weir, headers, body)


def parse_retry_after(header: Optional[str], now: Optional[datetime] = None) -> Optional[float]:
    """Returns the wait in seconds; None unless it is seconds or an HTTP date."""
    if header is None:
        return None
    if header.isascii() and header.isdigit():
        return float(header)
    try:
        date = parsedate_to_datetime(header)
    except (TypeError, ValueError):
        return None
    if date.tzinfo is None:
        # An HTTP date is in UTC, also where it does not say so.
        date = date.replace(tzinfo=timezone.utc)
    return max(0.0, (date - (now or datetime.now(timezone.utc))).total_seconds())


def etag_in(headers: Mapping[str, str]) -> Optional[str]:
    """Returns the ETag of Weir, which is never weak: one that is was weakened by who compressed the answer on its way."""
    etag = headers.get("etag")
    return etag[2:] if etag is not None and etag.startswith("W/") else etag


def read_or_raise(answer: Answer) -> Dict[str, Any]:
    """Returns what was asked for. Raises a WeirError when the answer is no success, or none that can be read."""
    # Of 204 there is nothing to read, nor where Weir keeps nothing of the answer to a write that was made before.
    is_empty = answer.status == 204 or "idempotent-replay" in answer.headers
    if _is_success(answer) and (is_empty or answer.body):
        return answer.body
    raise refusal(answer, ())


def read_file_or_raise(answer: Answer) -> Tuple[bytes, Optional[str]]:
    """Returns the bytes of a file, and the query of the page behind it, with its ``?``.

    Of a CSV the pages one after the other are one file; all else is whole. Raises a WeirError when the answer is no success, or a page
    of HTML, which only others have.
    """
    kind = answer.headers.get("content-type") or ""
    if not _is_success(answer) or kind.startswith("text/html"):
        raise refusal(answer, ())
    links = (answer.headers.get("link") or "") if kind.startswith("text/csv") else ""
    found = re.search(r'<[^?>]*(\?[^>]*)>; rel="next"', links)
    return answer.content, found and found[1]


def withheld_in(headers: Mapping[str, str]) -> List[str]:
    """Returns the members of an answer that Weir does not show again: a secret is shown once, and a very long list is not kept."""
    names = headers.get("idempotent-withheld")
    return names.split(", ") if names else []


def answer_withheld(withheld: Sequence[str]) -> WeirError:
    """Returns what to raise where the caller would take such an answer for the first one."""
    detail = (
        "It was done, and the answer got lost or was given before: sent with another key it is done twice. "
        f"Weir does not show again: {', '.join(withheld)}. Read the rest by a GET, or by exchange with the same key. "
        "Where that is a secret, delete what was made, and make another"
    )
    return WeirError(status=0, code="answer_withheld", detail=detail, transient=False)


def split_answer(answer: Answer, keys: Sequence[str]) -> List[Answer]:
    """Returns the answers to the single events of a batch. Raises a WeirError unless there is one for each."""
    items = answer.body.get("data")
    if answer.status not in (201, 207) or not isinstance(items, list) or len(items) != len(keys):
        raise refusal(answer, keys)
    if not all(isinstance(item, dict) and isinstance(item.get("status"), int) for item in items):
        raise refusal(answer, keys)
    return [Answer(item["status"], item, answer.request_id, answer.retry_after, True) for item in items]


def settle(answer: Answer, key: str) -> Tracked:
    """Returns which event the service keeps. Raises a WeirError when it did not keep this one."""
    event_id = _text(answer.body.get("id"))
    duplicate = answer.status == 409 and answer.body.get("code") == "duplicate_event"
    if event_id is not None and (answer.status == 201 or duplicate):
        return Tracked(event_id, duplicate)
    raise refusal(answer, (key,))


def refusal(answer: Answer, keys: Sequence[str]) -> WeirError:
    """A success that cannot be read counts as no answer. To send the events again finds out whether they were kept."""
    refused = answer.status >= 300
    body = answer.body
    unreadable = f"The service answered {answer.status} with a body that this client does not understand"
    errors = body.get("errors")
    return WeirError(
        status=answer.status if refused else 0,
        code=(_text(body.get("code")) or f"http_{answer.status}") if refused else "bad_response",
        detail=_text(body.get("detail")) or unreadable,
        request_id=answer.request_id,
        retry_after=answer.retry_after,
        is_from_weir=answer.is_from_weir,
        outcome=_text(body.get("outcome")),
        errors=[each for each in errors if isinstance(each, dict)] if isinstance(errors, list) else (),
        idempotency_keys=keys,
    )


def _is_success(answer: Answer) -> bool:
    return 200 <= answer.status < 300


def _text(value: Any) -> Optional[str]:
    return value if isinstance(value, str) else None
