from __future__ import annotations

import json
import re
import uuid
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from typing import Any, Dict, Mapping, Optional, Union, overload

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_BEFORE_QUANTITY = ',"quantity":'


Quantity = Union[int, float, Decimal, str]


@dataclass(frozen=True, init=False)
class Event:
    """One usage event. Its meter is named by its token, or by the ``lookup_key`` of its feature, and not by both."""

    meter_token: Optional[str]
    #: Your own identifier of the customer.
    customer_external_id: str
    #: More than 0. A ``Decimal`` or a string arrives digit for digit.
    quantity: Quantity
    #: When it happened: a datetime with a time zone, or ISO 8601 with an offset. Left out: the time of receipt, or, in
    #: ``Client.queue``, the time when it was queued.
    timestamp: Union[datetime, str, None] = None
    #: Counts the event once however often it is sent. A UUID is made when left out.
    idempotency_key: Optional[str] = None
    #: For a UNIQUE_COUNT meter, ``user_id`` is the value to count.
    metadata: Optional[Mapping[str, Any]] = None
    #: In place of the token.
    lookup_key: Optional[str] = None

    @overload
    def __init__(
        self,
        meter_token: str,
        customer_external_id: str,
        quantity: Quantity,
        timestamp: Union[datetime, str, None] = None,
        idempotency_key: Optional[str] = None,
        metadata: Optional[Mapping[str, Any]] = None,
    ) -> None: ...

    @overload
    def __init__(
        self,
        *,
        lookup_key: str,
        customer_external_id: str,
        quantity: Quantity,
        timestamp: Union[datetime, str, None] = None,
        idempotency_key: Optional[str] = None,
        metadata: Optional[Mapping[str, Any]] = None,
    ) -> None: ...

    def __init__(
        self,
        meter_token: Optional[str] = None,
        customer_external_id: Optional[str] = None,
        quantity: Optional[Quantity] = None,
        timestamp: Union[datetime, str, None] = None,
        idempotency_key: Optional[str] = None,
        metadata: Optional[Mapping[str, Any]] = None,
        lookup_key: Optional[str] = None,
    ) -> None:
        """Raises a TypeError without a customer, a quantity, or exactly one name of the meter."""
        if customer_external_id is None or quantity is None:
            raise TypeError("an event needs a customer_external_id and a quantity")
        if (meter_token is None) == (lookup_key is None):
            raise TypeError("name the meter of an event by meter_token or by lookup_key")
        given = (meter_token, customer_external_id, quantity, timestamp, idempotency_key, metadata, lookup_key)
        for each, value in zip(fields(self), given):
            object.__setattr__(self, each.name, value)


class Encoded:
    """An event as it is sent: its key, and one line of JSON."""

    __slots__ = ("key", "line", "number", "segment")

    def __init__(self, key: str, line: bytes, segment: Any = None, number: int = 0) -> None:
        self.key = key
        self.line = line
        #: Of an outbox: the file that it lies in.
        self.segment = segment
        #: Of an outbox: in the order in which this process wrote them; 0 of another's.
        self.number = number


def key_and_encode(event: Event) -> Encoded:
    """Gives the event a key unless it has one, and writes it as JSON.

    Raises a ValueError when the quantity is no number, or the timestamp has no time zone; a TypeError when the key is no text.
    """
    key = str(uuid.uuid4()) if event.idempotency_key is None else event.idempotency_key
    if not isinstance(key, str):
        # In an outbox nobody would know such an event by its key.
        raise TypeError(f"idempotency_key must be a str, and not {key!r}")
    name = {"lookup_key": event.lookup_key} if event.meter_token is None else {"meter_token": event.meter_token}
    body: Dict[str, Any] = {**name, "customer_external_id": event.customer_external_id}
    if event.timestamp is not None:
        body["timestamp"] = _timestamp(event.timestamp)
    body["idempotency_key"] = key
    if event.metadata is not None:
        body["metadata"] = event.metadata
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # The json module writes no number that a float does not hold.
    return Encoded(key, f"{text[:-1]}{_BEFORE_QUANTITY}{_quantity(event.quantity)}}}".encode("utf-8"))


def key_of(line: bytes) -> str:
    """Returns the idempotency_key of an event, of a newer version of a client too. Raises a ValueError where there is none."""
    body = json.loads(line, parse_int=str, parse_float=str)
    key = body.get("idempotency_key") if isinstance(body, dict) else None
    if not isinstance(key, str):
        raise ValueError("this is no event with an idempotency_key")
    return key


def decode(line: bytes) -> Event:
    """Returns the event that ``key_and_encode`` wrote, its quantity with all its digits. Raises a ValueError for any other text.

    Fields that this version does not know are left out.
    """
    text = line.decode("utf-8")
    head, found, quantity = text.rpartition(_BEFORE_QUANTITY)
    body = json.loads(f"{head}}}") if found else None
    if not isinstance(body, dict) or not isinstance(body.get("idempotency_key"), str):
        raise ValueError("this is no event with an idempotency_key")
    try:
        known = {each.name: body[each.name] for each in fields(Event) if each.name in body}
        return Event(quantity=_quantity(quantity[:-1]), **known)
    except TypeError as error:
        raise ValueError(str(error)) from error


def _quantity(quantity: Union[int, float, Decimal, str]) -> str:
    literal = str(quantity)
    if isinstance(quantity, bool) or _NUMBER.fullmatch(literal) is None:
        raise ValueError(f"quantity must be a finite number or a decimal literal, not {quantity!r}")
    return literal


def _timestamp(timestamp: Union[datetime, str]) -> str:
    if isinstance(timestamp, str):
        return timestamp
    if timestamp.tzinfo is None:
        raise ValueError("timestamp must have a time zone: datetime.now(timezone.utc), for example")
    return timestamp.isoformat()
