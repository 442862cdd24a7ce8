"""What the API says of billing, in its own words. Amounts are exact, as text: ``Decimal(invoice["total"])``.

Made of its document by clients/openapi/python.ts: change that, or the API, and ``npx vitest run client-types -u``.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union


class Party(TypedDict):
    legal_name: Optional[str]
    tax_id: Optional[str]
    address_line1: Optional[str]
    address_line2: Optional[str]
    city: Optional[str]
    state: Optional[str]
    postal_code: Optional[str]
    #: Two letters of ISO 3166-1.
    country: Optional[str]


class Plan(TypedDict):
    id: str
    name: str
    lookup_id: str
    type: Literal["FIXED", "USAGE", "HYBRID"]
    billing_interval: Literal["day", "week", "month", "year"]
    currency: str
    is_active: bool
    trial_days: int
    description: Optional[str]
    created_at: str


class PlanFeature(TypedDict):
    feature_id: str
    is_enabled: bool
    #: A decimal; null: unlimited.
    usage_limit: Optional[str]
    usage_reset_period: Optional[Literal["hour", "day", "week", "month", "year"]]
    is_soft_limit: bool
    static_value: Optional[str]
    created_at: str


class _PlanWithFeatures(TypedDict):
    id: str
    name: str
    lookup_id: str
    type: Literal["FIXED", "USAGE", "HYBRID"]
    billing_interval: Literal["day", "week", "month", "year"]
    currency: str
    is_active: bool
    trial_days: int
    description: Optional[str]
    created_at: str
    features: List[PlanFeature]
    #: Those that have not ended, and the 20 that ended last. All: GET /plans/{id}/charges.
    charges: List[Charge]


class PlanWithFeatures(_PlanWithFeatures, total=False):
    #: How many have ended, where these are not all of them.
    ended_charges_total: int


class FixedCharge(TypedDict):
    id: str
    plan_id: str
    display_name: str
    status: Literal["ACTIVE", "INACTIVE"]
    created_at: str
    #: Periods that begin from here on are billed by it.
    effective_from: str
    #: Periods that begin from here on are not. One in the future is where another charge takes its place.
    ended_at: Optional[str]
    #: The charge whose place it takes.
    replaces: Optional[str]
    type: Literal["FIXED"]
    meter_id: None
    timing: Literal["in_advance", "in_arrears"]
    #: A decimal.
    unit_price: str


class PerUnitCharge(TypedDict):
    id: str
    plan_id: str
    display_name: str
    status: Literal["ACTIVE", "INACTIVE"]
    created_at: str
    #: Periods that begin from here on are billed by it.
    effective_from: str
    #: Periods that begin from here on are not. One in the future is where another charge takes its place.
    ended_at: Optional[str]
    #: The charge whose place it takes.
    replaces: Optional[str]
    type: Literal["USAGE"]
    meter_id: str
    minimum_amount: Optional[str]
    maximum_amount: Optional[str]
    model: Literal["per_unit"]
    #: A decimal.
    unit_price: str
    included_units: Optional[str]


class GraduatedOrVolumeCharge(TypedDict):
    id: str
    plan_id: str
    display_name: str
    status: Literal["ACTIVE", "INACTIVE"]
    created_at: str
    #: Periods that begin from here on are billed by it.
    effective_from: str
    #: Periods that begin from here on are not. One in the future is where another charge takes its place.
    ended_at: Optional[str]
    #: The charge whose place it takes.
    replaces: Optional[str]
    type: Literal["USAGE"]
    meter_id: str
    minimum_amount: Optional[str]
    maximum_amount: Optional[str]
    model: Literal["graduated", "volume"]
    tiers: List[Tier]


class Tier(TypedDict):
    up_to: Optional[str]
    #: A decimal.
    unit_price: str
    #: A decimal.
    flat_fee: str


class PackageCharge(TypedDict):
    id: str
    plan_id: str
    display_name: str
    status: Literal["ACTIVE", "INACTIVE"]
    created_at: str
    #: Periods that begin from here on are billed by it.
    effective_from: str
    #: Periods that begin from here on are not. One in the future is where another charge takes its place.
    ended_at: Optional[str]
    #: The charge whose place it takes.
    replaces: Optional[str]
    type: Literal["USAGE"]
    meter_id: str
    minimum_amount: Optional[str]
    maximum_amount: Optional[str]
    model: Literal["package"]
    #: A decimal.
    unit_price: str
    #: A decimal.
    package_size: str
    included_units: Optional[str]


class PercentageCharge(TypedDict):
    id: str
    plan_id: str
    display_name: str
    status: Literal["ACTIVE", "INACTIVE"]
    created_at: str
    #: Periods that begin from here on are billed by it.
    effective_from: str
    #: Periods that begin from here on are not. One in the future is where another charge takes its place.
    ended_at: Optional[str]
    #: The charge whose place it takes.
    replaces: Optional[str]
    type: Literal["USAGE"]
    meter_id: str
    minimum_amount: Optional[str]
    maximum_amount: Optional[str]
    model: Literal["percentage"]
    #: A decimal.
    rate: str
    fixed_amount: Optional[str]
    included_units: Optional[str]


class FixedChargeTerms(TypedDict):
    display_name: str
    type: Literal["FIXED"]
    meter_id: Optional[str]
    timing: Literal["in_advance", "in_arrears"]
    #: A decimal.
    unit_price: str


class PerUnitChargeTerms(TypedDict):
    display_name: str
    type: Literal["USAGE"]
    meter_id: Optional[str]
    minimum_amount: Optional[str]
    maximum_amount: Optional[str]
    model: Literal["per_unit"]
    #: A decimal.
    unit_price: str
    included_units: Optional[str]


class GraduatedOrVolumeChargeTerms(TypedDict):
    display_name: str
    type: Literal["USAGE"]
    meter_id: Optional[str]
    minimum_amount: Optional[str]
    maximum_amount: Optional[str]
    model: Literal["graduated", "volume"]
    tiers: List[Tier]


class PackageChargeTerms(TypedDict):
    display_name: str
    type: Literal["USAGE"]
    meter_id: Optional[str]
    minimum_amount: Optional[str]
    maximum_amount: Optional[str]
    model: Literal["package"]
    #: A decimal.
    unit_price: str
    #: A decimal.
    package_size: str
    included_units: Optional[str]


class PercentageChargeTerms(TypedDict):
    display_name: str
    type: Literal["USAGE"]
    meter_id: Optional[str]
    minimum_amount: Optional[str]
    maximum_amount: Optional[str]
    model: Literal["percentage"]
    #: A decimal.
    rate: str
    fixed_amount: Optional[str]
    included_units: Optional[str]


class Subscription(TypedDict):
    id: str
    external_id: Optional[str]
    customer_id: str
    customer_external_id: str
    plan_id: str
    plan_name: str
    #: What it goes over to at the end of the period.
    pending_plan_id: Optional[str]
    status: Literal["SCHEDULED", "TRIAL", "ACTIVE", "PAST_DUE", "CANCELED"]
    start_date: str
    trial_end_date: Optional[str]
    time_zone: str
    currency: str
    billing_interval: Literal["day", "week", "month", "year"]
    billing_alignment: Literal["anniversary", "calendar"]
    #: Counts periods from 0; null before the first one.
    cycle: Optional[int]
    #: How many periods have begun that are not opened yet. Of a long past the first ones are opened with the
    #: request, and the run opens the others; until then it cannot be changed or canceled.
    periods_to_open: int
    #: In a trial, and before one, its own; before any other start, that.
    current_period_start: str
    current_period_end: str
    cancel_at_period_end: bool
    cancel_reason: Optional[str]
    #: When its end was asked for.
    canceled_at: Optional[str]
    #: When it ends or ended.
    ended_at: Optional[str]
    created_at: str


class Invoice(TypedDict):
    id: str
    #: Null for a draft.
    invoice_number: Optional[str]
    kind: Literal["SUBSCRIPTION", "ADJUSTMENT"]
    status: Literal["DRAFT", "OPEN", "PAID", "VOID", "UNCOLLECTIBLE"]
    customer_id: str
    subscription_id: str
    #: The boundary that it is of; null for an ADJUSTMENT, which is of none.
    cycle: Optional[int]
    currency: str
    #: A date in the time zone of the organization.
    issue_date: Optional[str]
    due_date: Optional[str]
    period_start: str
    period_end: str
    #: A decimal with exactly the digits of the currency.
    subtotal: str
    #: A decimal with exactly the digits of the currency.
    tax: str
    #: A decimal with exactly the digits of the currency.
    total: str
    #: A decimal with exactly the digits of the currency.
    credits_applied: str
    #: A decimal with exactly the digits of the currency.
    amount_paid: str
    #: A decimal with exactly the digits of the currency.
    amount_due: str
    #: When its grace is over. Null where the billing settings leave it to people to finalize.
    finalizes_at: Optional[str]
    finalized_at: Optional[str]
    #: When the last payment was made, once nothing is due.
    paid_at: Optional[str]
    #: Of the payment after which nothing was due.
    reference: Optional[str]
    note: Optional[str]
    #: Name and address as they were when it was finalized.
    customer: Optional[Dict[str, Any]]
    #: Who issued it, in lines, as the settings said when it was finalized. Null before.
    issuer: Optional[str]
    #: Whether it is open and its due date has ended.
    is_past_due: bool
    #: Whether it is void and its charges are billed again. Of one that is void else, they were waived.
    rebilled: bool
    #: Who issued it, field by field, as the settings said when it was finalized. Null before, and where they do not
    #: say.
    seller: Optional[Party]
    #: To whom, field by field, as the customer was when it was finalized. Null before.
    buyer: Optional[Party]
    created_at: str
    #: When a draft was computed; null once it is finalized, and where it could not be.
    computed_at: Optional[str]
    #: Why a draft could not be computed, where others of a list could: its amounts are 0 then, and computed_at is
    #: null. Null for all others.
    not_computed: Optional[NotComputed]


class NotComputed(TypedDict):
    #: month_taken_out, or internal_error.
    code: str
    #: What is the matter and what to do about it, for a person.
    detail: str


class InvoiceLine(TypedDict):
    id: str
    kind: Literal["FIXED", "USAGE", "LATE_USAGE", "ADJUSTMENT"]
    description: str
    charge_id: Optional[str]
    #: As it was when the period was opened. Null for an ADJUSTMENT.
    charge: Optional[ChargeTerms]
    #: The period that it is for, counted.
    cycle: Optional[int]
    period_start: Optional[str]
    period_end: Optional[str]
    #: Local dates in force, of those of the whole period; null where it is whole.
    days: Optional[str]
    #: What the meter reads. An exact decimal; only averages are rounded, to 12 digits after the point, or to more
    #: where their sum has more.
    quantity: Optional[str]
    event_count: Optional[int]
    #: By tier, or the number of packages, before minimum and maximum; else null.
    detail: Optional[Union[List[LineTier], LinePackages]]
    #: What the due comes to, before the rounding: a decimal, or n/d.
    exact_amount: str
    #: A decimal with exactly the digits of the currency.
    billed_before: str
    #: exact_amount, rounded, less billed_before, plus waived.
    amount: str
    #: What the line would have taken away more, had it been asked for: of void invoices nothing comes back. Null
    #: where nothing was cut off.
    waived: Optional[str]
    #: It bills what was recorded before this closing. Null in a draft.
    closing: Optional[int]
    rating_version: int


class LineTier(TypedDict):
    up_to: Optional[str]
    quantity: str
    exact_amount: str


class LinePackages(TypedDict):
    packages: str


class _InvoiceWithLines(TypedDict):
    id: str
    #: Null for a draft.
    invoice_number: Optional[str]
    kind: Literal["SUBSCRIPTION", "ADJUSTMENT"]
    status: Literal["DRAFT", "OPEN", "PAID", "VOID", "UNCOLLECTIBLE"]
    customer_id: str
    subscription_id: str
    #: The boundary that it is of; null for an ADJUSTMENT, which is of none.
    cycle: Optional[int]
    currency: str
    #: A date in the time zone of the organization.
    issue_date: Optional[str]
    due_date: Optional[str]
    period_start: str
    period_end: str
    #: A decimal with exactly the digits of the currency.
    subtotal: str
    #: A decimal with exactly the digits of the currency.
    tax: str
    #: A decimal with exactly the digits of the currency.
    total: str
    #: A decimal with exactly the digits of the currency.
    credits_applied: str
    #: A decimal with exactly the digits of the currency.
    amount_paid: str
    #: A decimal with exactly the digits of the currency.
    amount_due: str
    #: When its grace is over. Null where the billing settings leave it to people to finalize.
    finalizes_at: Optional[str]
    finalized_at: Optional[str]
    #: When the last payment was made, once nothing is due.
    paid_at: Optional[str]
    #: Of the payment after which nothing was due.
    reference: Optional[str]
    note: Optional[str]
    #: Name and address as they were when it was finalized.
    customer: Optional[Dict[str, Any]]
    #: Who issued it, in lines, as the settings said when it was finalized. Null before.
    issuer: Optional[str]
    #: Whether it is open and its due date has ended.
    is_past_due: bool
    #: Whether it is void and its charges are billed again. Of one that is void else, they were waived.
    rebilled: bool
    #: Who issued it, field by field, as the settings said when it was finalized. Null before, and where they do not
    #: say.
    seller: Optional[Party]
    #: To whom, field by field, as the customer was when it was finalized. Null before.
    buyer: Optional[Party]
    created_at: str
    #: When a draft was computed; null once it is finalized, and where it could not be.
    computed_at: Optional[str]
    #: At most 500, and those that hold 4000 tiers in all: of what is more, the first ones.
    lines: List[InvoiceLine]
    #: In the order in which they were recorded. Those that stand add up to amount_paid.
    payments: List[Payment]


class InvoiceWithLines(_InvoiceWithLines, total=False):
    #: How many lines there are, where these are not all.
    lines_total: int
    #: The cursor of the others in GET /invoices/{id}/lines, where these are not all.
    lines_next_cursor: str


class Payment(TypedDict):
    id: str
    #: A decimal with exactly the digits of the currency.
    amount: str
    paid_at: str
    #: What paid it, such as the id of a processor.
    reference: Optional[str]
    created_at: str
    #: Null: it stands.
    taken_back_at: Optional[str]
    #: Why it was taken back.
    note: Optional[str]


class Credit(TypedDict):
    id: str
    amount: str
    currency: str
    #: What can still be drawn.
    remaining: str
    priority: int
    expires_at: Optional[str]
    note: Optional[str]
    external_id: Optional[str]
    status: Literal["ACTIVE", "USED", "EXPIRED", "VOID"]
    created_at: str


class DraftData(TypedDict):
    id: str
    kind: Literal["SUBSCRIPTION", "ADJUSTMENT"]
    status: Literal["DRAFT", "OPEN", "PAID", "VOID", "UNCOLLECTIBLE"]
    subscription_id: str
    customer_id: str
    cycle: Optional[int]
    currency: str
    period_start: str
    period_end: str
    #: When its grace is over. Null where the billing settings leave it to people to finalize.
    finalizes_at: Optional[str]


class InvoiceData(TypedDict):
    id: str
    kind: Literal["SUBSCRIPTION", "ADJUSTMENT"]
    status: Literal["DRAFT", "OPEN", "PAID", "VOID", "UNCOLLECTIBLE"]
    subscription_id: str
    customer_id: str
    cycle: Optional[int]
    currency: str
    period_start: str
    period_end: str
    invoice_number: Optional[str]
    #: A decimal, in units of the currency.
    total: str
    #: A decimal, in units of the currency.
    credits_applied: str
    #: A decimal, in units of the currency.
    amount_paid: str
    #: A decimal, in units of the currency.
    amount_due: str
    issue_date: Optional[str]
    due_date: Optional[str]
    paid_at: Optional[str]
    reference: Optional[str]
    note: Optional[str]


class InvoicePaymentData(TypedDict):
    id: str
    kind: Literal["SUBSCRIPTION", "ADJUSTMENT"]
    status: Literal["DRAFT", "OPEN", "PAID", "VOID", "UNCOLLECTIBLE"]
    subscription_id: str
    customer_id: str
    cycle: Optional[int]
    currency: str
    period_start: str
    period_end: str
    invoice_number: Optional[str]
    #: A decimal, in units of the currency.
    total: str
    #: A decimal, in units of the currency.
    credits_applied: str
    #: A decimal, in units of the currency.
    amount_paid: str
    #: A decimal, in units of the currency.
    amount_due: str
    issue_date: Optional[str]
    due_date: Optional[str]
    paid_at: Optional[str]
    reference: Optional[str]
    note: Optional[str]
    payment: Payment


class _PaidInvoiceData(TypedDict):
    id: str
    kind: Literal["SUBSCRIPTION", "ADJUSTMENT"]
    status: Literal["DRAFT", "OPEN", "PAID", "VOID", "UNCOLLECTIBLE"]
    subscription_id: str
    customer_id: str
    cycle: Optional[int]
    currency: str
    period_start: str
    period_end: str
    invoice_number: Optional[str]
    #: A decimal, in units of the currency.
    total: str
    #: A decimal, in units of the currency.
    credits_applied: str
    #: A decimal, in units of the currency.
    amount_paid: str
    #: A decimal, in units of the currency.
    amount_due: str
    issue_date: Optional[str]
    due_date: Optional[str]
    paid_at: Optional[str]
    reference: Optional[str]
    note: Optional[str]


class PaidInvoiceData(_PaidInvoiceData, total=False):
    payment: Payment


class _VoidedInvoiceData(TypedDict):
    id: str
    kind: Literal["SUBSCRIPTION", "ADJUSTMENT"]
    status: Literal["DRAFT", "OPEN", "PAID", "VOID", "UNCOLLECTIBLE"]
    subscription_id: str
    customer_id: str
    cycle: Optional[int]
    currency: str
    period_start: str
    period_end: str
    invoice_number: Optional[str]
    #: A decimal, in units of the currency.
    total: str
    #: A decimal, in units of the currency.
    credits_applied: str
    #: A decimal, in units of the currency.
    amount_paid: str
    #: A decimal, in units of the currency.
    amount_due: str
    issue_date: Optional[str]
    due_date: Optional[str]
    paid_at: Optional[str]
    reference: Optional[str]
    note: Optional[str]


class VoidedInvoiceData(_VoidedInvoiceData, total=False):
    #: Whether its charges are billed again; else they were waived. Earlier versions did not say.
    rebilled: bool


class SubscriptionData(TypedDict):
    id: str
    external_id: Optional[str]
    customer_id: str
    plan_id: str
    pending_plan_id: Optional[str]
    status: Literal["SCHEDULED", "TRIAL", "ACTIVE", "PAST_DUE", "CANCELED"]
    cycle: Optional[int]
    current_period_start: str
    current_period_end: str
    cancel_at_period_end: bool
    canceled_at: Optional[str]
    ended_at: Optional[str]


class GrantedCreditData(TypedDict):
    credit_id: str
    customer_id: str
    currency: str
    #: A decimal, in units of the currency.
    amount: str
    invoice_id: Optional[str]


class VoidedCreditData(TypedDict):
    credit_id: str
    customer_id: str
    currency: str
    #: A decimal, in units of the currency.
    amount: str


class UnpricedUsageData(TypedDict):
    meter_id: str
    reason: Literal["price_ended", "not_in_plan", "after_end", "no_subscription"]
    month: str
    day: str
    events: int
    customers: int


class ReachedThresholdData(TypedDict):
    #: Of the crossing.
    id: str
    alert_id: str
    #: Of the alert.
    name: str
    customer_id: Optional[str]
    customer_external_id: str
    #: Null: an amount was reached.
    meter_id: Optional[str]
    #: Whose period it is. Null: a month of the calendar.
    subscription_id: Optional[str]
    #: Of an amount.
    currency: Optional[str]
    period_start: str
    period_end: str
    threshold: str
    #: What it had come to when it was seen.
    value: str


class DisabledEndpointData(TypedDict):
    id: str
    reason: Literal["FAILING", "GONE"]
    failing_since: Optional[str]


class DraftWebhookData(DraftData):
    #: In which order events have happened.
    sequence: int
    actor: str


class DraftWebhook(TypedDict):
    #: The same each time that it is sent: what was seen is dropped by it.
    id: str
    type: Literal["invoice.created"]
    timestamp: str
    data: DraftWebhookData


class DraftEvent(TypedDict):
    sequence: int
    type: Literal["invoice.created"]
    created_at: str
    actor: str
    data: DraftData


class InvoiceWebhookData(InvoiceData):
    #: In which order events have happened.
    sequence: int
    actor: str


class InvoiceWebhook(TypedDict):
    #: The same each time that it is sent: what was seen is dropped by it.
    id: str
    type: Literal["invoice.finalized", "invoice.credited", "invoice.uncollectible", "invoice.past_due"]
    timestamp: str
    data: InvoiceWebhookData


class InvoiceEvent(TypedDict):
    sequence: int
    type: Literal["invoice.finalized", "invoice.credited", "invoice.uncollectible", "invoice.past_due"]
    created_at: str
    actor: str
    data: InvoiceData


class InvoicePaymentWebhookData(InvoicePaymentData):
    #: In which order events have happened.
    sequence: int
    actor: str


class InvoicePaymentWebhook(TypedDict):
    #: The same each time that it is sent: what was seen is dropped by it.
    id: str
    type: Literal["invoice.payment_recorded", "invoice.payment_taken_back"]
    timestamp: str
    data: InvoicePaymentWebhookData


class InvoicePaymentEvent(TypedDict):
    sequence: int
    type: Literal["invoice.payment_recorded", "invoice.payment_taken_back"]
    created_at: str
    actor: str
    data: InvoicePaymentData


class PaidInvoiceWebhookData(PaidInvoiceData):
    #: In which order events have happened.
    sequence: int
    actor: str


class PaidInvoiceWebhook(TypedDict):
    #: The same each time that it is sent: what was seen is dropped by it.
    id: str
    type: Literal["invoice.paid"]
    timestamp: str
    data: PaidInvoiceWebhookData


class PaidInvoiceEvent(TypedDict):
    sequence: int
    type: Literal["invoice.paid"]
    created_at: str
    actor: str
    data: PaidInvoiceData


class VoidedInvoiceWebhookData(VoidedInvoiceData):
    #: In which order events have happened.
    sequence: int
    actor: str


class VoidedInvoiceWebhook(TypedDict):
    #: The same each time that it is sent: what was seen is dropped by it.
    id: str
    type: Literal["invoice.voided"]
    timestamp: str
    data: VoidedInvoiceWebhookData


class VoidedInvoiceEvent(TypedDict):
    sequence: int
    type: Literal["invoice.voided"]
    created_at: str
    actor: str
    data: VoidedInvoiceData


class SubscriptionWebhookData(SubscriptionData):
    #: In which order events have happened.
    sequence: int
    actor: str


class SubscriptionWebhook(TypedDict):
    #: The same each time that it is sent: what was seen is dropped by it.
    id: str
    type: Literal["subscription.created", "subscription.activated", "subscription.changed", "subscription.past_due", "subscription.canceled"]
    timestamp: str
    data: SubscriptionWebhookData


class SubscriptionEvent(TypedDict):
    sequence: int
    type: Literal["subscription.created", "subscription.activated", "subscription.changed", "subscription.past_due", "subscription.canceled"]
    created_at: str
    actor: str
    data: SubscriptionData


class GrantedCreditWebhookData(GrantedCreditData):
    #: In which order events have happened.
    sequence: int
    actor: str


class GrantedCreditWebhook(TypedDict):
    #: The same each time that it is sent: what was seen is dropped by it.
    id: str
    type: Literal["credit.granted"]
    timestamp: str
    data: GrantedCreditWebhookData


class GrantedCreditEvent(TypedDict):
    sequence: int
    type: Literal["credit.granted"]
    created_at: str
    actor: str
    data: GrantedCreditData


class VoidedCreditWebhookData(VoidedCreditData):
    #: In which order events have happened.
    sequence: int
    actor: str


class VoidedCreditWebhook(TypedDict):
    #: The same each time that it is sent: what was seen is dropped by it.
    id: str
    type: Literal["credit.voided"]
    timestamp: str
    data: VoidedCreditWebhookData


class VoidedCreditEvent(TypedDict):
    sequence: int
    type: Literal["credit.voided"]
    created_at: str
    actor: str
    data: VoidedCreditData


class UnpricedUsageWebhookData(UnpricedUsageData):
    #: In which order events have happened.
    sequence: int
    actor: str


class UnpricedUsageWebhook(TypedDict):
    #: The same each time that it is sent: what was seen is dropped by it.
    id: str
    type: Literal["usage.unpriced"]
    timestamp: str
    data: UnpricedUsageWebhookData


class UnpricedUsageEvent(TypedDict):
    sequence: int
    type: Literal["usage.unpriced"]
    created_at: str
    actor: str
    data: UnpricedUsageData


class ReachedThresholdWebhookData(ReachedThresholdData):
    #: In which order events have happened.
    sequence: int
    actor: str


class ReachedThresholdWebhook(TypedDict):
    #: The same each time that it is sent: what was seen is dropped by it.
    id: str
    type: Literal["usage.threshold_reached"]
    timestamp: str
    data: ReachedThresholdWebhookData


class ReachedThresholdEvent(TypedDict):
    sequence: int
    type: Literal["usage.threshold_reached"]
    created_at: str
    actor: str
    data: ReachedThresholdData


class DisabledEndpointWebhookData(DisabledEndpointData):
    #: In which order events have happened.
    sequence: int
    actor: str


class DisabledEndpointWebhook(TypedDict):
    #: The same each time that it is sent: what was seen is dropped by it.
    id: str
    type: Literal["webhook_endpoint.disabled"]
    timestamp: str
    data: DisabledEndpointWebhookData


class DisabledEndpointEvent(TypedDict):
    sequence: int
    type: Literal["webhook_endpoint.disabled"]
    created_at: str
    actor: str
    data: DisabledEndpointData


class TestWebhookData(TypedDict):
    sequence: None
    actor: str


class TestWebhook(TypedDict):
    id: str
    type: Literal["webhook.test"]
    timestamp: str
    data: TestWebhookData


Charge = Union[
    FixedCharge,
    PerUnitCharge,
    GraduatedOrVolumeCharge,
    PackageCharge,
    PercentageCharge,
]
ChargeTerms = Union[
    FixedChargeTerms,
    PerUnitChargeTerms,
    GraduatedOrVolumeChargeTerms,
    PackageChargeTerms,
    PercentageChargeTerms,
]
BillingEvent = Union[
    DraftEvent,
    InvoiceEvent,
    InvoicePaymentEvent,
    PaidInvoiceEvent,
    VoidedInvoiceEvent,
    SubscriptionEvent,
    GrantedCreditEvent,
    VoidedCreditEvent,
    UnpricedUsageEvent,
    ReachedThresholdEvent,
    DisabledEndpointEvent,
]
Webhook = Union[
    DraftWebhook,
    InvoiceWebhook,
    InvoicePaymentWebhook,
    PaidInvoiceWebhook,
    VoidedInvoiceWebhook,
    SubscriptionWebhook,
    GrantedCreditWebhook,
    VoidedCreditWebhook,
    UnpricedUsageWebhook,
    ReachedThresholdWebhook,
    DisabledEndpointWebhook,
    TestWebhook,
]
