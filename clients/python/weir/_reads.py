"""What the reads of the API answer, in its own words. Decimals are exact, as text: ``Decimal(usage["total_usage"])``."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, TypedDict


class UsagePeriod(TypedDict):
    #: ``2026-11``, ``2026-W47``, ``2026-11-20``, or an hour with its offset.
    period: str
    period_start: str
    #: None where there is no value: the mean of nothing.
    usage: Optional[str]
    event_count: int


class _UsageGroup(TypedDict):
    value: Optional[str]
    total_usage: Optional[str]
    event_count: int
    grouped_data: List[UsagePeriod]


class UsageGroup(_UsageGroup, total=False):
    #: What did not come among the largest, together.
    is_rest: bool


class _MeterUsage(TypedDict):
    meter_id: str
    aggregation_type: str
    unit: Optional[str]
    total_usage: Optional[str]
    event_count: int
    unique_customers: int
    period_start: str
    period_end: str
    grouped_data: List[UsagePeriod]


class MeterUsage(_MeterUsage, total=False):
    #: With ``group_by_metadata``.
    groups: List[UsageGroup]


class _MeterOfCustomer(TypedDict):
    meter_id: str
    name: str
    meter_token: str
    aggregation_type: str
    unit: Optional[str]
    status: str
    total_usage: Optional[str]
    event_count: int


class CustomerUsage(TypedDict):
    customer_id: str
    customer_external_id: str
    period_start: str
    period_end: str
    data: List[_MeterOfCustomer]


class MeterCustomer(TypedDict):
    #: None where the customer has no record.
    customer_id: Optional[str]
    customer_external_id: str
    name: Optional[str]
    total_usage: Optional[str]
    event_count: int


class _PageMeta(TypedDict):
    page: int
    page_size: int
    total: int
    total_pages: int


class MeterCustomersPage(TypedDict):
    data: List[MeterCustomer]
    meta: _PageMeta


class _EventReceipt(TypedDict):
    id: str
    #: ``queued``, ``recorded``, ``rejected`` or ``duplicate``.
    status: str
    meter_id: str
    customer_external_id: str
    quantity: str
    timestamp: str
    received_at: str
    idempotency_key: Optional[str]
    metadata: Optional[Dict[str, Any]]


class EventReceipt(_EventReceipt, total=False):
    #: Why it is not counted; of rejected ones.
    reason: str
    #: The event that holds its key; of duplicates.
    duplicate_of: str


class _CursorMeta(TypedDict):
    next_cursor: Optional[str]


class EventsPage(TypedDict):
    data: List[EventReceipt]
    meta: _CursorMeta


class Entitlement(TypedDict):
    feature: str
    #: ``meter``, ``switch`` or ``custom``.
    type: str
    has_access: bool
    #: ``ok``, ``no_subscription``, ``not_in_plan``, ``disabled`` or ``limit_reached``.
    reason: str
    limit: Optional[str]
    usage: Optional[str]
    remaining: Optional[str]
    overage: Optional[str]
    is_soft_limit: bool
    static_value: Optional[str]
    period_start: Optional[str]
    resets_at: Optional[str]
    as_of: str
    #: Events that were accepted since then may not be in the usage yet.
    queued_since: Optional[str]


class Customer(TypedDict):
    id: str
    external_id: str
    name: Optional[str]
    email: Optional[str]
    phone: Optional[str]
    billing_address_line1: Optional[str]
    billing_address_city: Optional[str]
    billing_address_state: Optional[str]
    billing_address_country: Optional[str]
    billing_address_postal_code: Optional[str]
    metadata: Dict[str, Any]
    time_zone: Optional[str]
    created_at: str


class CustomersPage(TypedDict):
    data: List[Customer]
    meta: _PageMeta


class WidgetToken(TypedDict):
    #: The secret, for the browser of this one customer.
    token: str
    expires_at: str
