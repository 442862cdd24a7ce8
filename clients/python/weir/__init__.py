"""The client for services that report usage to Weir."""

from ._answer import BatchOutcome, Reply, Tracked
from ._billing import (
    BillingEvent,
    Charge,
    ChargeTerms,
    Credit,
    Invoice,
    InvoiceLine,
    InvoiceWithLines,
    Party,
    Payment,
    Plan,
    PlanFeature,
    PlanWithFeatures,
    Subscription,
    Webhook,
)
from ._client import Client
from ._errors import WeirError
from ._event import Event
from ._limits import BATCH_EVENTS_MAX
from ._openapi import (
    Customer,
    CustomersPage,
    CustomerUsage,
    Entitlement,
    EventCorrection,
    EventReceipt,
    EventsPage,
    MeterCustomer,
    MeterCustomersPage,
    MeterOfCustomer,
    MeterUsage,
    UsageGroup,
    UsagePeriod,
    WidgetToken,
)
from ._queue import CloseResult, QueueOptions
from ._webhook import verify_webhook

__all__ = [
    "BATCH_EVENTS_MAX",
    "BatchOutcome",
    "BillingEvent",
    "Charge",
    "ChargeTerms",
    "Client",
    "CloseResult",
    "Credit",
    "Customer",
    "CustomerUsage",
    "CustomersPage",
    "Entitlement",
    "Event",
    "EventCorrection",
    "EventReceipt",
    "EventsPage",
    "Invoice",
    "InvoiceLine",
    "InvoiceWithLines",
    "MeterCustomer",
    "MeterCustomersPage",
    "MeterOfCustomer",
    "MeterUsage",
    "Party",
    "Payment",
    "Plan",
    "PlanFeature",
    "PlanWithFeatures",
    "QueueOptions",
    "Reply",
    "Subscription",
    "Tracked",
    "UsageGroup",
    "UsagePeriod",
    "Webhook",
    "WeirError",
    "WidgetToken",
    "verify_webhook",
]

__version__ = "1.0.0"
