"""What the reads of the API answer, in its own words. Decimals are exact, as text: ``Decimal(usage["total_usage"])``.

Made of its document by clients/openapi/python.ts: change that, or the API, and ``npx vitest run client-types -u``.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union


class UsagePeriod(TypedDict):
    #: 2026-11, 2026-W47, 2026-11-20, or an hour with its offset from UTC: 2026-11-20T16:00+01:00.
    period: str
    #: Where the calendar period begins; the window may begin later.
    period_start: str
    #: An exact decimal; only averages are rounded, to 12 digits after the point, or to more where their sum has
    #: more. Null where there is no largest, smallest, mean or last value: nothing was counted.
    usage: Optional[str]
    event_count: int


class UsageGroup(TypedDict):
    #: As text. Null: the events have no such key, or null, an array or an object there; or this is the rest. A text
    #: of more than 100 characters is its first 80 and a hash, and filter takes both forms.
    value: Optional[str]
    #: All values beyond groups_limit together.
    is_rest: bool
    #: An exact decimal; only averages are rounded, to 12 digits after the point, or to more where their sum has
    #: more. Null where there is no largest, smallest, mean or last value: nothing was counted.
    total_usage: Optional[str]
    event_count: int
    #: The periods of the whole, in the same order.
    grouped_data: List[UsagePeriod]


class _MeterUsage(TypedDict):
    meter_id: str
    aggregation_type: Literal["COUNT", "SUM", "MAX", "MIN", "AVG", "LAST", "UNIQUE_COUNT"]
    unit: Optional[str]
    #: An exact decimal; only averages are rounded, to 12 digits after the point, or to more where their sum has
    #: more. Null where there is no largest, smallest, mean or last value: nothing was counted.
    total_usage: Optional[str]
    event_count: int
    unique_customers: int
    period_start: str
    #: The first instant that does not count any more.
    period_end: str
    grouped_data: List[UsagePeriod]


class MeterUsage(_MeterUsage, total=False):
    #: With group_by_metadata or filter: events of days (UTC) on which the meter saw more than 1,000 combinations of
    #: values, and whose own was not among the first of them. They are in total_usage and in the rest, but under no
    #: value and in no filter.
    overflow_event_count: int
    #: With group_by_metadata: largest first, then the rest if there is any.
    groups: List[UsageGroup]


class MeterOfCustomer(TypedDict):
    meter_id: str
    name: str
    meter_token: str
    aggregation_type: Literal["COUNT", "SUM", "MAX", "MIN", "AVG", "LAST", "UNIQUE_COUNT"]
    unit: Optional[str]
    status: Literal["ACTIVE", "ARCHIVED"]
    #: An exact decimal; only averages are rounded, to 12 digits after the point, or to more where their sum has
    #: more. Null where there is no largest, smallest, mean or last value: nothing was counted.
    total_usage: Optional[str]
    event_count: int


class CustomerUsage(TypedDict):
    customer_id: str
    customer_external_id: str
    period_start: str
    period_end: str
    data: List[MeterOfCustomer]


class MeterCustomer(TypedDict):
    #: Null where the customer has no record.
    customer_id: Optional[str]
    customer_external_id: str
    name: Optional[str]
    #: An exact decimal; only averages are rounded, to 12 digits after the point, or to more where their sum has
    #: more. Null where there is no largest, smallest, mean or last value: nothing was counted.
    total_usage: Optional[str]
    event_count: int


class PageMeta(TypedDict):
    page: int
    page_size: int
    total: int
    total_pages: int
    #: The cursor of the next page; null: this was the last.
    next_cursor: Optional[str]


class MeterCustomersPage(TypedDict):
    data: List[MeterCustomer]
    meta: Union[PageMeta, CursorMeta]
    meter_id: str
    period_start: str
    period_end: str


class EventCorrection(TypedDict):
    id: str
    reason: str
    #: The event that counts in place of the one that is void.
    amended_by: Optional[str]
    #: user: and the id of a user, or service_account: and that of a service account.
    actor: str
    created_at: str


class _EventReceipt(TypedDict):
    id: str
    #: A voided event was recorded, and a correction has taken it out of the count.
    status: Literal["queued", "recorded", "voided", "rejected", "duplicate"]
    meter_id: str
    customer_external_id: str
    quantity: str
    timestamp: str
    received_at: str
    idempotency_key: Optional[str]
    metadata: Optional[Dict[str, Any]]


class EventReceipt(_EventReceipt, total=False):
    #: Why the event is not counted; for rejected events.
    reason: str
    #: The event that holds the idempotency key; for duplicates.
    duplicate_of: str
    correction: EventCorrection
    #: The voided event in whose place this one counts; where there is one.
    amends: str
    #: Whether the event came in or was voided since the line before; for lines with changes=true.
    change: Literal["added", "removed"]


class CursorMeta(TypedDict):
    #: The cursor of the next page; null: this was the last.
    next_cursor: Optional[str]


class EventsPage(TypedDict):
    data: List[EventReceipt]
    meta: CursorMeta


class Entitlement(TypedDict):
    #: Its lookup_key.
    feature: str
    type: Literal["meter", "switch", "custom"]
    has_access: bool
    reason: Literal["ok", "no_subscription", "not_in_plan", "disabled", "limit_reached"]
    #: Null: there is none.
    limit: Optional[str]
    #: What is recorded in the window of the limit. Where the window begins within an hour, as that of a limit that
    #: never resets may, events of that hour are missing while their month is taken out of the database.
    usage: Optional[str]
    #: Null: there is no limit. That of an average is rounded as the usage is; has_access is judged by the fraction.
    remaining: Optional[str]
    overage: Optional[str]
    is_soft_limit: bool
    static_value: Optional[str]
    #: Since when usage counts.
    period_start: Optional[str]
    #: When it begins at 0 again; null: never.
    resets_at: Optional[str]
    as_of: str
    #: Events that were accepted since then may not be in the usage yet. Null: all are. While the queue cannot be
    #: asked it is period_start: any of them may be missing.
    queued_since: Optional[str]


class Customer(TypedDict):
    id: str
    external_id: str
    name: Optional[str]
    email: Optional[str]
    phone: Optional[str]
    legal_name: Optional[str]
    tax_id: Optional[str]
    billing_address_line1: Optional[str]
    billing_address_line2: Optional[str]
    billing_address_city: Optional[str]
    billing_address_state: Optional[str]
    billing_address_country: Optional[str]
    billing_country_code: Optional[str]
    billing_address_postal_code: Optional[str]
    metadata: Dict[str, Any]
    time_zone: Optional[str]
    created_at: str
    #: When it was erased (POST /erasures): it does not change any more.
    erased_at: Optional[str]


class CustomersPage(TypedDict):
    data: List[Customer]
    meta: Union[PageMeta, CursorMeta]


class WidgetToken(TypedDict):
    #: The secret. Give it to the browser of this one customer.
    token: str
    #: One hour after it was made.
    expires_at: str
