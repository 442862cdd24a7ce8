from __future__ import annotations

import json
import os
import threading
import time
import uuid
import weakref
from dataclasses import replace
from datetime import date, datetime, timezone
from decimal import Decimal
from types import TracebackType
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Type, TypeVar, Union, cast
from urllib.parse import quote

from ._answer import (
    Answer,
    BatchOutcome,
    Reply,
    Tracked,
    answer_withheld,
    etag_in,
    read_file_or_raise,
    read_or_raise,
    settle,
    withheld_in,
)
from ._deliver import deliver
from ._errors import WeirError, with_keys
from ._event import Encoded, Event, key_and_encode
from ._numbers import WAIT_MAX, read_retries, read_wait
from ._openapi import (
    Customer,
    CustomersPage,
    CustomerUsage,
    Entitlement,
    EventReceipt,
    EventsPage,
    MeterCustomersPage,
    MeterUsage,
    WidgetToken,
)
from ._outbox_folder import forget_folders
from ._queue import CloseResult, EventQueue, QueueOptions, tell_unsent
from ._request import query_string, read_headers, read_request_key
from ._retry import OnRetry, with_retries
from ._transport import Transport

#: An instant with a time zone, a day, or either as ISO 8601.
When = Union[datetime, date, str]

Self = TypeVar("Self", bound="Client")
Read = TypeVar("Read")

#: As often as this the answer with a secret may get lost.
_SECRET_TRIES = 3


class Client:
    """Sends usage to Weir, and reads it. Make one for a process and share it: it is safe for threads, and for ``os.fork``."""

    def __init__(
        self,
        base_url: str,
        api_key: Optional[str] = None,
        *,
        service_token: Optional[str] = None,
        timeout: float = 5.0,
        retries: int = 4,
        on_retry: Optional[OnRetry] = None,
        queue: QueueOptions = QueueOptions(),
    ) -> None:
        """``timeout`` is the limit of one attempt in seconds, without the look-up of the host's name; ``math.inf`` is none. ``retries``
        come after it.

        ``on_retry`` is called with each failure that will be retried and the wait in seconds; also with those of the queue.
        ``service_token`` is that of a service account: for ``request``, and for all that is read. Events and widget tokens take an
        ``api_key``. Raises a ValueError when ``base_url`` is no address, or holds a password, there is neither of the two, or ``timeout`` or
        ``retries`` is no such number. Opens no connection, unless there is an outbox, of which what is left is sent.
        """
        self._transport = Transport(base_url, api_key, timeout, service_token)
        self._queue_transport = Transport(base_url, api_key, timeout, service_token)
        self._retries = read_retries(retries)
        self._on_retry = on_retry
        self._queue_options = queue
        self._is_closed = False
        self._queue: Optional[EventQueue] = self._open_queue() if queue.outbox is not None else None
        _clients.add(self)

    def track(self, event: Event, *, timeout: Optional[float] = None, retries: Optional[int] = None) -> Tracked:
        """Returns once the service has the event on disk.

        Raises a WeirError when the service refuses the event, or stays out of reach through all retries; a ValueError when the
        quantity is no number.
        """
        encoded = key_and_encode(event)

        def attempt() -> Tracked:
            keys = (encoded.key,)
            answer = self._transport.send(
                "POST", "/sdk/track", encoded.line, by_key=True, idempotency_keys=keys, timeout=timeout
            )
            return settle(answer, encoded.key)

        return with_retries(attempt, self._retries_of(retries), self._on_retry)

    def track_batch(
        self, events: Sequence[Event], *, timeout: Optional[float] = None, retries: Optional[int] = None
    ) -> List[BatchOutcome]:
        """Sends 1 to ``BATCH_EVENTS_MAX`` events in one request, and returns their outcomes in the same order.

        Events that the service cannot take now are sent again without those that are settled, and in smaller requests where that is
        what it takes. Raises like ``track``, but only while no event has an answer of its own. Where a proxy refuses some of them, others may not have been tried: their errors
        are ``transient``.
        """
        encoded = [key_and_encode(event) for event in events]
        delivery = deliver(
            encoded,
            lambda body, keys: self._transport.send(
                "POST", "/sdk/track/batch", body, by_key=True, idempotency_keys=keys, timeout=timeout
            ),
            self._retries_of(retries),
            self._on_retry,
            time.sleep,
        )
        outcomes, doubtful = delivery.outcomes, delivery.doubtful
        failure = delivery.failure or next(iter(doubtful.values()), None)
        if failure is None:
            return cast(List[BatchOutcome], outcomes)
        if not isinstance(failure, WeirError):
            raise failure
        if all(each is None for each in outcomes):
            raise with_keys(failure, [event.key for event in encoded])
        # What was said of others says nothing of an event that was not tried.
        transient = delivery.failure is None or failure.transient
        return [
            outcome or doubtful.get(index) or with_keys(failure, (encoded[index].key,), transient)
            for index, outcome in enumerate(outcomes)
        ]

    def queue(self, event: Event, *, timeout: Optional[float] = None) -> str:
        """Hands an event to the background, which sends it in a batch, again and again until Weir has it.

        Returns its idempotency key as soon as it is held: in memory, or with an outbox on disk. When nothing more can be held it
        blocks its thread and waits for room, for ``timeout`` seconds if given. Raises a WeirError: ``queue_full``, ``queue_closed`` or
        ``outbox_failed``; a ValueError when the quantity is no number.

        An event without a timestamp gets the present one, since it may be sent much later. So give a key of your own together
        with a time of your own: the same key with another time is refused.
        """
        encoded = _encode_now(event)
        self._opened_queue().add(encoded, timeout)
        return encoded.key

    async def queue_async(self, event: Event, *, timeout: Optional[float] = None) -> str:
        """The same for asyncio: what ``queue`` waits for, room and the disk, is awaited, and the loop goes on.

        A call that is cancelled while it waits for room has queued nothing; while it waits for the disk, it may have.
        """
        encoded = _encode_now(event)
        await self._opened_queue().add_async(encoded, timeout)
        return encoded.key

    @property
    def queued_bytes(self) -> int:
        """Bytes of JSON that were queued and are not settled, in memory or in the outbox: for a chart and an alert."""
        return 0 if self._queue is None else self._queue.size

    def flush(self, timeout: Optional[float] = None) -> bool:
        """Sends what is queued now. Returns True when all of it is settled, whatever is queued meanwhile, and False when the
        time is up before, or ``close`` ends before. What a proxy refuses is not settled: give a ``timeout``.
        """
        return True if self._queue is None else self._queue.flush(timeout)

    def close(self, timeout: Optional[float] = 10.0) -> CloseResult:
        """Sends what is queued, for at most so many seconds, and takes no more; None waits until all is settled. The result says what is
        left.

        With an outbox that stays on disk. A process that ends calls this by itself.
        """
        seconds = WAIT_MAX if timeout is None else read_wait("timeout", timeout)
        self._is_closed = True
        result = CloseResult(True) if self._queue is None else self._queue.close(seconds)
        self._transport.close()
        self._queue_transport.close()
        return result

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        is_told = self._is_closed
        result = self.close(self._queue_options.exit_timeout)
        # Who closed it before has the result.
        if not is_told:
            tell_unsent("The with statement", result)

    def usage(
        self,
        *,
        meter_token: Optional[str] = None,
        meter_id: Optional[str] = None,
        customer_external_id: Optional[str] = None,
        customer_id: Optional[str] = None,
        start_date: Optional[When] = None,
        end_date: Optional[When] = None,
        timezone: Optional[str] = None,
        group_by: Optional[str] = None,
        group_by_metadata: Optional[str] = None,
        groups_limit: Optional[int] = None,
        filter: Optional[Mapping[str, str]] = None,
        **options: Any,
    ) -> MeterUsage:
        """The usage of a meter over a window, in all and by calendar period; of all customers or of one.

        ``group_by`` is ``hour``, ``day``, ``week`` or ``month``. The meter is named by its token or by its id.
        """
        if (meter_token is None) == (meter_id is None):
            raise ValueError("name the meter by meter_token or by meter_id")
        query = {
            "meter_token": meter_token,
            "customer_external_id": customer_external_id,
            "customer_id": customer_id,
            "start_date": start_date,
            "end_date": end_date,
            "timezone": timezone,
            "group_by": group_by,
            "group_by_metadata": group_by_metadata,
            "groups_limit": groups_limit,
            **{f"filter[{key}]": value for key, value in (filter or {}).items()},
        }
        path = "/usage" if meter_id is None else f"/meters/{quote(meter_id, safe='')}/usage"
        return cast(MeterUsage, self._get(path, query, **options))

    def customer_usage(
        self,
        customer_id: str,
        *,
        start_date: Optional[When] = None,
        end_date: Optional[When] = None,
        timezone: Optional[str] = None,
        **options: Any,
    ) -> CustomerUsage:
        """The usage of one customer over a window, on every meter. The id is that of its record."""
        query = {"start_date": start_date, "end_date": end_date, "timezone": timezone}
        return cast(CustomerUsage, self._get(f"/customers/{quote(customer_id, safe='')}/usage", query, **options))

    def meter_customers(
        self,
        meter_id: str,
        *,
        start_date: Optional[When] = None,
        end_date: Optional[When] = None,
        timezone: Optional[str] = None,
        sort: Optional[str] = None,
        cursor: Optional[str] = None,
        limit: Optional[int] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Any,
    ) -> MeterCustomersPage:
        """The customers of a meter by their usage over a window, largest first, or as ``sort`` says: by ``customer_external_id`` each is met
        once, also while usage changes. ``meta["next_cursor"]`` leads to those that follow."""
        query = {
            "start_date": start_date,
            "end_date": end_date,
            "timezone": timezone,
            "sort": sort,
            "cursor": cursor,
            "limit": limit,
            "page": page,
            "page_size": page_size,
        }
        return cast(MeterCustomersPage, self._get(f"/meters/{quote(meter_id, safe='')}/customers", query, **options))

    def event(self, event_id: str, **options: Any) -> EventReceipt:
        """The receipt of an event: what became of it."""
        return cast(EventReceipt, self._get(f"/events/{quote(event_id, safe='')}", {}, **options))

    def events(
        self,
        *,
        status: Optional[str] = None,
        meter_id: Optional[str] = None,
        meter_token: Optional[str] = None,
        customer_external_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        reason: Optional[str] = None,
        start_date: Optional[When] = None,
        end_date: Optional[When] = None,
        cursor: Optional[str] = None,
        limit: Optional[int] = None,
        **options: Any,
    ) -> EventsPage:
        """A page of events, newest first. One that still waits in Weir's queue is not listed yet."""
        query = {
            "status": status,
            "meter_id": meter_id,
            "meter_token": meter_token,
            "customer_external_id": customer_external_id,
            "idempotency_key": idempotency_key,
            "reason": reason,
            "start_date": start_date,
            "end_date": end_date,
            "cursor": cursor,
            "limit": limit,
        }
        return cast(EventsPage, self._get("/events", query, **options))

    def entitlement(
        self,
        customer_external_id: str,
        feature: str,
        *,
        quantity: Union[Decimal, int, str, None] = None,
        **options: Any,
    ) -> Entitlement:
        """Whether a customer may use a feature, and how much of it is left.

        ``quantity`` is how much is about to be used. It holds nothing: two who ask at once may both be told of the last unit.
        """
        query = {"customer_external_id": customer_external_id, "feature": feature, "quantity": quantity}
        return cast(Entitlement, self._get("/entitlements", query, **options))

    def entitlements(self, customer_external_id: str, **options: Any) -> List[Entitlement]:
        """Everything that the subscriptions of a customer give it."""
        answer = self._get("/entitlements", {"customer_external_id": customer_external_id}, **options)
        return cast(List[Entitlement], answer["data"])

    def customer(self, customer_id: str, **options: Any) -> Customer:
        return cast(Customer, self._get(f"/customers/{quote(customer_id, safe='')}", {}, **options))

    def customers(
        self,
        *,
        search: Optional[str] = None,
        external_id: Optional[str] = None,
        sort: Optional[str] = None,
        cursor: Optional[str] = None,
        limit: Optional[int] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Any,
    ) -> CustomersPage:
        """A page of customers, newest first. ``search`` is a part of the external_id, the name or the email.

        ``meta["next_cursor"]`` is the ``cursor`` of the next page, and None at the end.
        """
        query = {
            "search": search,
            "external_id": external_id,
            "sort": sort,
            "cursor": cursor,
            "limit": limit,
            "page": page,
            "page_size": page_size,
        }
        return cast(CustomersPage, self._get("/customers", query, **options))

    def widget_token(self, customer_external_id: str, **options: Any) -> WidgetToken:
        """Makes a token that shows one customer its own usage, subscriptions, prices, invoices and credits, for ``/embed#token=`` or
        for reads of your own. It ends after an hour.
        """
        body = json.dumps({"customer_external_id": customer_external_id}).encode("utf-8")
        # Where the answer to an attempt got lost: a secret is shown once, so nobody has that token, and another one is made.
        for _ in range(_SECRET_TRIES):
            key = str(uuid.uuid4())
            made = self._call(read_or_raise, "POST", "/widget/token", body, by_key=True, request_key=key, **options)
            if isinstance(made.get("token"), str):
                return cast(WidgetToken, made)
        detail = "The service has made tokens whose answers got lost, and shows none twice: ask again."
        raise WeirError(status=0, code="secret_lost", detail=detail)

    def request(
        self,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]] = None,
        *,
        query: Optional[Mapping[str, Any]] = None,
        idempotency_key: Optional[str] = None,
        **options: Any,
    ) -> Any:
        """Any request of the API: ``path`` is what comes after ``/api/v1``, such as ``/customers``.

        Returns what is answered, in the API's own words; an empty dictionary where that is nothing. Is retried as all calls are. A
        write carries one Idempotency-Key in all attempts: without one of your own each call makes one. Decimals are best written as
        texts. Takes what ``exchange`` takes. Raises a WeirError when the service refuses it, also ``answer_withheld`` where a repeat
        lacks a part of the first answer, such as a secret.
        """
        reply = self.exchange(method, path, body, query=query, idempotency_key=idempotency_key, **options)
        if reply.withheld:
            raise answer_withheld(reply.withheld)
        return reply.body

    def file(self, path: str, *, query: Optional[Mapping[str, Any]] = None, **options: Any) -> bytes:
        """What is read is a file, such as ``/invoices/{id}/pdf``: returns its bytes.

        A CSV of several pages is read page by page, and all of it is returned. Each page is retried as all calls are.
        """
        address = path.partition("?")[0]
        pages: List[bytes] = []
        at: Optional[str] = path + query_string(query or {})
        while at is not None:
            content, following = self._call(read_file_or_raise, "GET", at, **options)
            pages.append(content)
            at = None if following is None else address + following
        return b"".join(pages)

    def exchange(
        self,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]] = None,
        *,
        query: Optional[Mapping[str, Any]] = None,
        idempotency_key: Optional[str] = None,
        if_match: Optional[str] = "",
        if_none_match: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
        **options: Any,
    ) -> Reply:
        """The same as ``request``, of which all is answered: also the ``etag`` of what was read. What a repeat lacks is in ``withheld``.

        In ``if_match`` that etag has a PATCH change what was read, or nothing: ``precondition_failed`` says that somebody was
        quicker. In ``if_none_match`` it has a GET of what is still the same answer with the status 304, and an empty dictionary.
        ``headers`` are others, such as ``traceparent``; a ValueError refuses those that the client writes itself,
        and a key that no header carries.
        """
        sent = None if body is None else json.dumps(body).encode("utf-8")
        own = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
        key = None if method == "GET" else read_request_key(own)
        more = read_headers(headers or {}, if_match, if_none_match)

        def read(answer: Answer) -> Reply:
            is_same = answer.status == 304 and if_none_match is not None
            found = {} if is_same else read_or_raise(answer)
            return Reply(answer.status, found, withheld_in(answer.headers), etag_in(answer.headers), answer.headers)

        path += query_string(query or {})
        return self._call(read, method, path, sent, headers=more, request_key=key, **options)

    def _get(self, path: str, query: Mapping[str, Any], **options: Any) -> Dict[str, Any]:
        return self._call(read_or_raise, "GET", path + query_string(query), **options)

    def _call(
        self,
        read: Callable[[Answer], Read],
        method: str,
        path: str,
        body: Optional[bytes] = None,
        *,
        by_key: bool = False,
        request_key: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
        timeout: Optional[float] = None,
        retries: Optional[int] = None,
    ) -> Read:
        def attempt() -> Read:
            answer = self._transport.send(
                method, path, body, by_key=by_key, request_key=request_key, headers=headers, timeout=timeout
            )
            return read(answer)

        try:
            return with_retries(attempt, self._retries_of(retries), self._on_retry)
        except WeirError as error:
            if request_key is None:
                raise
            raise with_keys(error, [request_key]) from error.__cause__

    def _retries_of(self, retries: Optional[int]) -> float:
        return self._retries if retries is None else read_retries(retries)

    def _opened_queue(self) -> EventQueue:
        if self._queue is None:
            with _opening:
                self._queue = self._queue or self._open_queue()
        return self._queue

    def _open_queue(self) -> EventQueue:
        transport = self._queue_transport
        # At once, and not again and again in the background.
        transport.require_api_key()
        queue = EventQueue(
            # By this the threads of the queue keep the client, too, which a fork looks for.
            lambda body, keys: self._queue_transport.send(
                "POST", "/sdk/track/batch", body, by_key=True, idempotency_keys=keys
            ),
            transport.abort,
            self._on_retry,
            self._queue_options,
        )
        if self._is_closed:
            queue.close(0)
        return queue

    def _after_fork(self) -> None:
        self._transport.reset()
        self._queue_transport.reset()
        if self._queue is not None:
            self._queue.after_fork()


def _encode_now(event: Event) -> Encoded:
    return key_and_encode(event if event.timestamp is not None else replace(event, timestamp=datetime.now(timezone.utc)))


_clients: "weakref.WeakSet[Client]" = weakref.WeakSet()
_opening = threading.Lock()


def _before_fork() -> None:
    for client in list(_clients):
        if client._queue is not None:
            client._queue.before_fork()


def _after_fork_in_parent() -> None:
    for client in list(_clients):
        if client._queue is not None:
            client._queue.after_fork_in_parent()


def _after_fork_in_child() -> None:
    global _opening
    # Another thread of the parent may have held it.
    _opening = threading.Lock()
    forget_folders()
    for client in list(_clients):
        client._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
