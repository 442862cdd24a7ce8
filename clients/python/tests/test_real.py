"""Against a real Weir: WEIR_URL, WEIR_API_KEY and METER_TOKEN say which. test/operations/python-client.test.ts starts one."""

import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Callable

from weir import Client, Event, QueueOptions, Tracked, WeirError

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOKEN = os.environ["METER_TOKEN"]


def until(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 20
    while not is_so():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain until {what}")
        time.sleep(0.02)


class TestReal(unittest.TestCase):
    def setUp(self) -> None:
        self.weir = Client(os.environ["WEIR_URL"], os.environ["WEIR_API_KEY"])
        self.addCleanup(self.weir.close)

    def test_an_event_is_tracked_once_and_can_be_read(self) -> None:
        at = datetime.now(timezone.utc) - timedelta(hours=1)
        event = Event(TOKEN, "py-one", Decimal("0.1234567890123456789"), at, "py-key", {"user_id": "ü", "n": 1})
        first = self.weir.track(event)
        self.assertEqual(self.weir.track(event), Tracked(first.id, True))
        until(lambda: self.weir.event(first.id)["status"] == "recorded", "the event is recorded")
        receipt = self.weir.event(first.id)
        self.assertEqual((receipt["quantity"], receipt["metadata"]), ("0.1234567890123456789", {"user_id": "ü", "n": 1}))
        usage = self.weir.usage(meter_token=TOKEN, customer_external_id="py-one", start_date=at - timedelta(hours=1), group_by="hour")
        self.assertEqual(Decimal(usage["total_usage"] or 0), event.quantity)
        by_id = self.weir.usage(meter_id=usage["meter_id"], customer_external_id="py-one", timezone="Europe/Berlin")
        self.assertEqual(by_id["event_count"], 1)
        listed = self.weir.events(customer_external_id="py-one", limit=1)
        self.assertEqual([each["id"] for each in listed["data"]], [first.id])
        ranked = self.weir.meter_customers(usage["meter_id"], page_size=100)
        self.assertIn("py-one", [each["customer_external_id"] for each in ranked["data"]])

    def test_an_event_may_name_its_meter_by_the_lookup_key_of_its_feature(self) -> None:
        event = Event(lookup_key=os.environ["FEATURE"], customer_external_id="py-named", quantity=1, idempotency_key="py-named")
        tracked = self.weir.track(event)
        again = Event(TOKEN, "py-named", 1, idempotency_key="py-named")
        self.assertEqual(self.weir.track(again), Tracked(tracked.id, True))
        with self.assertRaises(WeirError) as raised:
            self.weir.track(Event(lookup_key="nobody-has-it", customer_external_id="c", quantity=1))
        self.assertEqual((raised.exception.status, raised.exception.code), (404, "meter_not_found"))

    def test_customers_entitlements_and_widget_tokens(self) -> None:
        page = self.weir.customers(search="py-customer")
        [customer] = page["data"]
        self.assertEqual(self.weir.customer(customer["id"])["external_id"], "py-customer")
        self.assertEqual(self.weir.customer_usage(customer["id"])["customer_external_id"], "py-customer")
        self.assertEqual(self.weir.entitlements("py-customer"), [])
        answer = self.weir.entitlement("py-customer", os.environ["FEATURE"], quantity=Decimal("1.5"))
        self.assertEqual((answer["has_access"], answer["reason"]), (False, "no_subscription"))
        token = self.weir.widget_token("py-customer")
        self.assertGreater(datetime.fromisoformat(token["expires_at"].replace("Z", "+00:00")), datetime.now(timezone.utc))

    def test_a_service_account_makes_any_request_and_tracks_with_the_key_that_it_makes(self) -> None:
        with Client(os.environ["WEIR_URL"], service_token=os.environ["WEIR_SERVICE_TOKEN"]) as service:
            customer = service.request("POST", "/customers", {"name": "Ada"}, idempotency_key="py-ada für→")
            again = service.request("POST", "/customers", {"name": "Ada"}, idempotency_key="py-ada für→")
            self.assertEqual(customer, again)
            listed = service.request("GET", "/customers", query={"search": customer["external_id"], "page": None})
            self.assertEqual([each["id"] for each in listed["data"]], [customer["id"]])
            self.assertEqual(service.customer(customer["id"])["name"], "Ada")
            self.assertEqual(service.request("DELETE", f"/customers/{customer['id']}"), {})
            for call in (
                lambda: service.track(Event(TOKEN, "c", 1)),
                lambda: service.queue(Event(TOKEN, "c", 1)),
                lambda: service.widget_token("c"),
                lambda: Client(os.environ["WEIR_URL"], service_token=""),
            ):
                with self.assertRaises(ValueError):
                    call()
            key = service.request("POST", "/api-keys", {"name": "py", "scopes": ["usage.write"]})["key"]
        with Client(os.environ["WEIR_URL"], key, service_token=os.environ["WEIR_SERVICE_TOKEN"]) as both:
            tracked = both.track(Event(TOKEN, "py-service", 1))
            until(lambda: both.event(tracked.id)["status"] == "recorded", "the event is recorded")

    def test_a_change_is_made_of_what_was_read_or_not_at_all(self) -> None:
        with Client(os.environ["WEIR_URL"], service_token=os.environ["WEIR_SERVICE_TOKEN"]) as service:
            path = f"/customers/{service.request('POST', '/customers', {'name': 'Ada'})['id']}"
            read = service.exchange("GET", path)
            self.assertEqual((read.status, read.body["name"], read.headers["etag"]), (200, "Ada", read.etag))
            same = service.exchange("GET", path, if_none_match=read.etag)
            self.assertEqual((same.status, same.body, same.etag), (304, {}, read.etag))
            self.assertIsNone(service.exchange("GET", "/customers").etag)
            changed = service.exchange("PATCH", path, {"name": "Grace"}, if_match=read.etag, headers={"Traceparent": "00-1"})
            self.assertEqual(changed.etag, service.exchange("GET", path).etag)
            with self.assertRaises(WeirError) as raised:
                service.request("PATCH", path, {"name": "Joan"}, if_match=read.etag)
            self.assertEqual((raised.exception.status, raised.exception.code), (412, "precondition_failed"))
            self.assertEqual(service.request("GET", path)["name"], "Grace")
            for options, message in (
                ({"headers": {"Authorization": "Bearer x"}}, "the header Authorization is the client's own: give service_token"),
                ({"headers": {"X-API-Key": "x"}}, "the header X-API-Key is the client's own: give api_key"),
                ({"headers": {"host": "example.com"}}, "the header host is the client's own: leave it out"),
                ({"headers": {"Content-Length": "1"}}, "the header Content-Length is the client's own: leave it out"),
                ({"headers": {"If-Match": '"x"'}}, "the header If-Match is the client's own: use if_match="),
                ({"headers": {"Idempotency-Key": "x"}}, "use idempotency_key="),
                ({"headers": {"x-note": "a\r\nhost: b"}}, "the header 'x-note' holds a line break"),
                ({"headers": {"x note": "a"}}, "the header 'x note' holds"),
                ({"if_match": '"ü"'}, "the header 'if-match' holds"),
                ({"if_match": None}, "if_match is None: what was read has no ETag"),
            ):
                with self.assertRaisesRegex(ValueError, re.escape(message)):
                    service.request("PATCH", path, {"name": "Joan"}, **options)
            self.assertEqual(service.request("GET", path)["name"], "Grace")

    def test_a_csv_of_several_pages_is_one_file(self) -> None:
        with Client(os.environ["WEIR_URL"], service_token=os.environ["WEIR_SERVICE_TOKEN"]) as service:
            charges = [{"type": "FIXED", "display_name": f"Fee {n}", "unit_price": "1", "timing": "in_advance"} for n in range(3)]
            terms = {"type": "FIXED", "billing_interval": "month", "currency": "USD"}
            plan = service.request("POST", "/plans", {"name": "Py", "lookup_id": "py-pages", **terms, "charges": charges})
            customer = service.request("POST", "/customers", {"name": "Grace"})
            subscribed = {"customer_id": customer["id"], "plan_id": plan["id"]}
            subscription = service.request("POST", "/subscriptions", subscribed)
            [draft] = service.request("GET", f"/subscriptions/{subscription['id']}/invoices")["data"]
            service.request("POST", f"/invoices/{draft['id']}/finalize")
            query = {"format": "csv", "customer_id": customer["id"]}
            whole = service.file("/invoice-lines", query=query)
            self.assertEqual([whole.count(f"Fee {n}".encode()) for n in range(3)], [1, 1, 1])
            self.assertEqual(service.file("/invoice-lines", query={**query, "limit": 1}), whole)

    def test_refusals_are_errors_with_the_words_of_the_service(self) -> None:
        for call, status, code in (
            (lambda: self.weir.track(Event("mtr_unknown", "c", 1)), 404, "meter_not_found"),
            (lambda: self.weir.track(Event(TOKEN, "c", 0)), 422, "invalid_request"),
            (lambda: self.weir.track_batch([]), 422, "invalid_request"),
            (lambda: self.weir.usage(meter_token=TOKEN, group_by="year"), 422, "invalid_request"),
            (lambda: self.weir.event("no-id"), 404, "not_found"),
            (lambda: Client(os.environ["WEIR_URL"], "org_live_x").track(Event(TOKEN, "c", 1)), 401, "unauthenticated"),
        ):
            with self.assertRaises(WeirError) as raised:
                call()
            error = raised.exception
            self.assertEqual((error.status, error.code, error.transient), (status, code, False))
            self.assertTrue(error.request_id and error.detail)

    def test_a_thousand_queued_events_are_counted(self) -> None:
        refused = []
        options = QueueOptions(batch_events_max=100, on_refused=lambda error, event: refused.append(error.code))
        with Client(os.environ["WEIR_URL"], os.environ["WEIR_API_KEY"], queue=options) as weir:
            for n in range(1000):
                weir.queue(Event(TOKEN, "py-queue", 1 if n > 0 else -1))
            self.assertTrue(weir.flush(20))
        self.assertEqual(refused, ["invalid_request"])
        counted = lambda: self.weir.usage(meter_token=TOKEN, customer_external_id="py-queue")["event_count"]  # noqa: E731
        until(lambda: counted() == 999, "all are counted")


class TestReadme(unittest.TestCase):
    def test_the_examples_run_as_they_stand(self) -> None:
        with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
            examples = re.findall(r"^```python\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL)
        with tempfile.TemporaryDirectory() as folder:
            env = {**os.environ, "PYTHONPATH": HERE, "OUTBOX": os.path.join(folder, "outbox")}
            outputs = [
                subprocess.run([sys.executable, "-c", code], env=env, check=True, stdout=subprocess.PIPE, text=True).stdout
                for code in examples
            ]
        self.assertEqual(outputs[:4], ["", "False\nkept\ninvalid_request\n", "3 True\n", ""])
        self.assertRegex(outputs[4], r"^[\d.]+ True\nTrue\n$")
        self.assertRegex(outputs[5], r"^\d+\n$")
        self.assertEqual(outputs[6:], ["initech\n", "Initech Inc.\n", ""])


if __name__ == "__main__":
    unittest.main()
