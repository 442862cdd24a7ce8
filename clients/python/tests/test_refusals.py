"""What is refused, by Weir or by what stands before it: which events that settles, and which the client keeps."""

import logging
import tempfile
import threading
import unittest
from typing import Any, List, Optional, Tuple

from fake_service import Reply, WithService, event

from weir import CloseResult, WeirError


class TestWholeRequest(WithService):
    def settles_nothing(self, reply: Reply, told: str, outbox: bool) -> None:
        """Each request is answered so: no event is given up, and all are taken when the answer is another."""
        with self.subTest(reply=reply, outbox=outbox), tempfile.TemporaryDirectory() as folder:
            refused: List[WeirError] = []
            self.service.accepted.clear()
            self.service.interfere = lambda events: reply
            options: Any = {"outbox": folder} if outbox else {}
            client = self.client(on_refused=lambda error, _: refused.append(error), **options)
            with self.assertLogs("weir", "ERROR") as logs:
                for n in range(10):
                    client.queue(event(n))
                result = client.close()
            self.assertEqual((result.is_done, refused), (False, []))
            self.assertEqual(len(logs.output), 1)
            self.assertIn(told, logs.output[0])
            self.service.interfere = lambda events: None
            again = self.client(**options)
            for each in result.unsent:
                again.queue(each)
            self.assertTrue(again.close().is_done)
            self.assertEqual(sorted(self.service.accepted), [f"k{n}" for n in range(10)])

    def test_a_proxy_settles_nothing_by_answering_for_the_service(self) -> None:
        for status in (400, 401, 403, 404, 413):
            for outbox in (True, False):
                self.settles_nothing((status, "<html>no</html>"), "such as a proxy, refuses", outbox)

    def test_weir_settles_nothing_by_a_refusal_that_is_about_the_request(self) -> None:
        # As a proxy brings about that adds headers, takes bodies off or leads elsewhere.
        for status, code in (
            (400, "malformed_request"),
            (400, "malformed_json"),
            (400, "two_credentials"),
            (404, "not_found"),
            (415, "unsupported_media_type"),
            (422, "invalid_request"),
            (431, "headers_too_large"),
        ):
            for outbox in (True, False):
                self.settles_nothing((status, {"code": code}), "Weir refuses", outbox)
        for status, code in ((401, "unauthenticated"), (403, "missing_scope")):
            self.settles_nothing((status, {"code": code}), "Weir refuses", True)

    def test_what_one_of_two_proxies_spoils_is_kept_until_it_goes_by_the_other(self) -> None:
        def interfere(_: List[Any]) -> Optional[Reply]:
            is_spoilt = len(self.service.requests) % 2 == 1
            return (400, {"code": "malformed_json", "detail": "The body is empty"}) if is_spoilt else None

        self.service.interfere = interfere
        refused: List[WeirError] = []
        client = self.client(concurrency=1, on_refused=lambda error, _: refused.append(error))
        with self.assertLogs("weir", "ERROR"):
            for n in range(10):
                client.queue(event(n))
            unsent = client.close().unsent
        self.assertEqual(refused, [])
        kept = [each.idempotency_key for each in unsent]
        self.assertEqual(sorted([*self.service.accepted, *kept]), [f"k{n}" for n in range(10)])

    def test_one_event_that_weir_names_is_found_and_costs_no_other(self) -> None:
        for status, code in ((400, "malformed_json"), (413, "payload_too_large")):
            with self.subTest(code=code):
                self.service.accepted.clear()

                def interfere(events: List[Any], status: int = status, code: str = code) -> Optional[Reply]:
                    at = [index for index, each in enumerate(events) if each["quantity"] == 77]
                    errors = [{"path": f"events[{at[0]}]", "message": "no"}] if at else []
                    return (status, {"code": code, "errors": errors}) if at else None

                self.service.interfere = interfere
                refused: List[Tuple[str, str]] = []
                client = self.client(on_refused=lambda error, which: refused.append((error.code, which.idempotency_key or "")))
                for n in range(1, 101):
                    client.queue(event(n))
                self.assertTrue(client.close().is_done)
                self.assertEqual((refused, len(self.service.accepted)), ([(code, "k77")], 99))


class TestProxy(WithService):
    def test_keeps_one_event_that_is_too_large_for_it_and_sends_the_others(self) -> None:
        self.service.interfere = lambda events: (
            (413, "<html>large</html>") if any(each["quantity"] == 7 for each in events) else None
        )
        client = self.client()
        with self.assertLogs("weir", "ERROR"):
            for n in range(1, 20):
                client.queue(event(n))
            result = client.close()
        self.assertEqual([each.idempotency_key for each in result.unsent], ["k7"])
        self.assertEqual(len(self.service.accepted), 18)

    def test_keeps_what_a_firewall_takes_for_an_attack_and_the_queue_goes_on_beside_it(self) -> None:
        self.service.interfere = lambda events: (
            (403, "<html>attack</html>") if any(each["quantity"] < 5 for each in events) else None
        )
        client = self.client(batch_events_max=10, concurrency=1, events_max=20)
        with self.assertLogs("weir", "ERROR") as logs:
            # More than the queue holds: it does not stand still.
            for n in (99, *range(1, 99)):
                client.queue(event(n), timeout=10)
            result = client.close()
        self.assertEqual(sorted(each.idempotency_key or "" for each in result.unsent), ["k1", "k2", "k3", "k4"])
        self.assertEqual((result.is_done, len(self.service.accepted), len(logs.output)), (False, 95, 1))
        self.assertIn("proxy, refuses some of what is sent, such as the event k1, and", logs.output[0])

    def test_sends_at_once_what_is_behind_events_that_a_firewall_refuses_however_many_these_are(self) -> None:
        self.service.interfere = lambda events: (
            (403, "<html>attack</html>") if any(each["quantity"] < 7 for each in events) else None
        )
        client = self.client(batch_events_max=10)
        with self.assertLogs("weir", "ERROR"):
            for n in range(1, 11):
                client.queue(event(n))
            # Of ten the first three and the last one, of six the same, and the two that are left.
            self.service.until_sent(16)
            result = client.close()
        self.assertEqual(sorted(self.service.accepted), ["k10", "k7", "k8", "k9"])
        self.assertEqual(len(result.unsent), 6)

    def listen(self) -> threading.Event:
        """Set when the log says something."""
        is_told = threading.Event()

        class Listener(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                is_told.set()

        listener = Listener()
        logging.getLogger("weir").addHandler(listener)
        self.addCleanup(logging.getLogger("weir").removeHandler, listener)
        return is_told

    def test_close_tries_once_what_it_refused_before(self) -> None:
        is_refused = self.listen()
        self.service.interfere = lambda events: (404, "<html>no</html>") if len(self.service.requests) == 1 else None
        client = self.client(batch_events_max=1)
        client.queue(event(1))
        self.assertTrue(is_refused.wait(10))
        client.queue(event(2))
        self.assertEqual(client.close(), CloseResult(True, []))
        self.assertEqual(sorted(self.service.accepted), ["k1", "k2"])

    def test_close_does_not_give_up_what_is_under_way_because_another_event_is_refused(self) -> None:
        is_refused = self.listen()
        is_under_way = threading.Event()
        refusals: List[None] = []

        def interfere(events: List[Any]) -> Any:
            if events[0]["quantity"] == 1:
                if refusals:
                    is_under_way.wait(30)
                refusals.append(None)
                return 403, "<html>attack</html>"
            is_first = not is_under_way.is_set()
            is_under_way.set()
            return (503, {"code": "unavailable"}) if is_first or len(refusals) < 2 else None

        self.service.interfere = interfere
        client = self.client(batch_events_max=1)
        client.queue(event(1))
        self.assertTrue(is_refused.wait(10))
        client.queue(event(2))
        result = client.close(30)
        self.assertEqual([each.idempotency_key for each in result.unsent], ["k1"])
        self.assertEqual(self.service.accepted, ["k2"])

    def test_what_was_not_tried_after_others_were_refused_is_sent_although_nothing_else_is_due(self) -> None:
        def is_alone() -> bool:
            # The other batch is done, and its thread has seen that nothing waits.
            return queue._is_closing and queue._in_flight == 1 and len(self.service.accepted) >= 10

        def interfere(events: List[Any]) -> Any:
            quantities = [each["quantity"] for each in events]
            if quantities == [3]:
                with queue._changed:
                    queue._changed.wait_for(is_alone, 30)
            return (403, "<html>attack</html>") if min(quantities) <= 3 else None

        self.service.interfere = interfere
        client = self.client(batch_events_max=10, interval=60)
        queue = client._opened_queue()
        with self.assertLogs("weir", "ERROR"):
            for n in range(1, 21):
                client.queue(event(n))
            result = client.close(30)
        self.assertEqual(sorted(each.idempotency_key or "" for each in result.unsent), ["k1", "k2", "k3"])
        self.assertEqual(len(self.service.accepted), 17)


if __name__ == "__main__":
    unittest.main()
