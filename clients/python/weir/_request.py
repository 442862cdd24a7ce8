"""How a request of one's own is written: its query, and the headers that a caller gives."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any, Dict, Mapping, Optional
from urllib.parse import urlencode

#: Of each header that a caller cannot set, since the client writes it itself, what to do in its place.
_REFUSED = {
    "authorization": "give service_token to the client",
    "x-api-key": "give api_key to the client",
    "idempotency-key": "use idempotency_key=",
    "if-match": "use if_match=",
    "if-none-match": "use if_none_match=",
    **dict.fromkeys(
        (
            "accept",
            "accept-encoding",
            "connection",
            "content-encoding",
            "content-length",
            "content-type",
            "cookie",
            "expect",
            "host",
            "keep-alive",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
        ),
        "leave it out",
    ),
}


def query_string(query: Mapping[str, Any]) -> str:
    given = [(name, _query_value(value)) for name, value in query.items() if value is not None]
    return f"?{urlencode(given)}" if given else ""


def _query_value(value: Any) -> str:
    if isinstance(value, datetime) and value.tzinfo is None:
        raise ValueError("a datetime must have a time zone: datetime.now(timezone.utc), for example")
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date) else str(value)


def read_headers(headers: Mapping[str, str], if_match: Optional[str], if_none_match: Optional[str]) -> Dict[str, str]:
    """Returns them as they are sent; an empty ``if_match`` is none.

    Raises a ValueError for one that is not the caller's to set, or that no request can carry.
    """
    # Left out silently, the change would be made whoever has changed it.
    if if_match is None:
        raise ValueError("if_match is None: what was read has no ETag. Leave it out to change it in any case")
    for name in headers:
        instead = _REFUSED.get(name.lower())
        if instead is not None:
            raise ValueError(f"the header {name} is the client's own: {instead}")
    sent = dict(headers)
    if if_match:
        sent["if-match"] = if_match
    if if_none_match is not None:
        sent["if-none-match"] = if_none_match
    for name, value in sent.items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) or not re.fullmatch(r"[\t\x20-\x7e]*", value):
            raise ValueError(f"the header {name!r} holds a line break or another character that none has")
    return sent


def read_request_key(given: str) -> str:
    """Returns the key of a request as its header carries it: a character for each byte of its UTF-8, in which Weir reads it.

    Raises a ValueError for one that would not arrive as it is.
    """
    if not isinstance(given, str):
        raise TypeError(f"idempotency_key must be a str, and not {given!r}")
    try:
        sent = given.encode("utf-8").decode("latin-1")
    except UnicodeEncodeError:
        # It holds half of a surrogate pair.
        sent = ""
    # Of its bytes: neither control characters nor, at its ends, the spaces that HTTP takes off.
    if not re.fullmatch(r"[\x21-\x7e\x80-\xff]([\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?", sent):
        rule = "a text without control characters, or spaces at its ends"
        raise ValueError(f"idempotency_key must be {rule}, and not {given!r}")
    return sent
