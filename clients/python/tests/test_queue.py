import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from dataclasses import replace
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, List
from unittest import mock

from fake_service import WithService, event

from weir import Client, CloseResult, Event, QueueOptions, Tracked, WeirError


class TestWhatNobodyThoughtOf(WithService):
    def test_a_listener_that_raises_does_not_end_the_queue(self) -> None:
        def raises(error: WeirError, delay: float) -> None:
            raise RuntimeError("mine")

        self.service.interfere = lambda events: (503, {"code": "unavailable"}) if len(self.service.requests) < 2 else None
        client = Client(self.service.url, "org_live_x", on_retry=raises)
        self.addCleanup(client.close, 0)
        with self.assertLogs("weir", "ERROR"):
            client.queue(event(1))
            self.assertTrue(client.close(10).is_done)
        self.assertEqual(self.service.accepted, ["k1"])

    def test_a_listener_that_ends_its_thread_does_not_end_the_queue(self) -> None:
        def exits(error: WeirError, _: Any) -> None:
            sys.exit("mine")

        def interfere(events: List[Any]) -> Any:
            if len(self.service.requests) < 2:
                return (503, {"code": "unavailable"})
            return (207, {"data": [{"status": 422, "code": "no"}]}) if len(self.service.requests) < 3 else None

        self.service.interfere = interfere
        options = QueueOptions(concurrency=1, batch_events_max=1, on_refused=exits)
        client = Client(self.service.url, "org_live_x", on_retry=exits, queue=options)
        self.addCleanup(client.close, 0)
        with self.assertLogs("weir", "ERROR") as logs:
            client.queue(event(1))
            client.queue(event(2))
            self.assertTrue(client.flush(10))
        self.assertEqual(self.service.accepted, ["k2"])
        told = " ".join(logs.output)
        self.assertIn("on_retry failed", told)
        self.assertIn("on_refused failed for the event k1", told)

    def test_a_process_that_can_start_no_more_threads_loses_nothing_and_counts_nothing_twice(self) -> None:
        refusal = {"status": 422, "code": "invalid_request", "detail": "ahead"}
        self.service.interfere = lambda events: (207, {"data": [refusal] * len(events)})
        client = self.client()
        start = threading.Thread.start

        def starts(thread: threading.Thread) -> None:
            # As Python 3.12 does while it ends, and any one at the limit of threads.
            if isinstance(thread, threading.Timer) or thread.name.startswith("weir-"):
                raise RuntimeError("can't create new thread at interpreter shutdown")
            start(thread)

        with self.assertLogs("weir", "ERROR") as logs:
            with mock.patch.object(threading.Thread, "start", starts):
                client.queue(event(1))
            client.queue(event(2))
            with mock.patch.object(threading.Thread, "start", starts):
                self.assertEqual(client.close(10), CloseResult(True, []))
        self.assertEqual(sorted(key for keys in self.service.keys() for key in keys), ["k1", "k2"])
        self.assertIn("cannot start a thread", logs.output[0])
        self.assertTrue(any("for good" in line for line in logs.output))

    def test_a_queue_that_never_had_a_thread_ends_at_once_and_gives_everything_back(self) -> None:
        client = self.client()
        with self.assertLogs("weir", "ERROR"), mock.patch.object(threading.Thread, "start", side_effect=RuntimeError):
            client.queue(event(1))
            result = client.close(10)
        self.assertEqual([each.idempotency_key for each in result.unsent], ["k1"])

    def test_an_exception_of_any_kind_loses_nothing(self) -> None:
        client = self.client()
        client.queue(event(1))
        queue = client._queue
        assert queue is not None

        def breaks(*_: Any) -> Any:
            raise RuntimeError("nobody thought of this")

        queue._send_batch = breaks
        with self.assertLogs("weir", "ERROR"):
            result = client.close(10)
        self.assertEqual([each.idempotency_key for each in result.unsent], ["k1"])

    def test_a_key_that_cannot_be_one_is_refused_at_once(self) -> None:
        for key in ("", "org_live_x\n", "org live", "org_live_ü"):
            with self.assertRaises(ValueError):
                Client(self.service.url, key)


class TestTrack(WithService):
    def test_sends_digits_keys_and_the_api_key(self) -> None:
        client = self.client()
        at = datetime(2026, 1, 2, tzinfo=timezone.utc)
        literal = Decimal("0.1234567890123456789")
        tracked = client.track(Event("m", "äcme", literal, timestamp=at, metadata={"user_id": "ü"}))
        [sent] = self.service.requests[0]
        self.assertEqual(tracked, Tracked(sent["idempotency_key"], False))
        self.assertEqual(len(sent["idempotency_key"]), 36)
        self.assertEqual((sent["timestamp"], sent["metadata"]), ("2026-01-02T00:00:00+00:00", {"user_id": "ü"}))
        self.assertEqual(self.service.headers[0]["x-api-key"], "org_live_x")
        self.assertEqual(client.track(replace(event(1), idempotency_key=tracked.id)), Tracked(tracked.id, True))

    def test_a_meter_is_named_in_one_way(self) -> None:
        client = self.client()
        named = Event(lookup_key="tokens", customer_external_id="acme", quantity=1)
        client.track(named)
        client.queue(replace(named, quantity=2))
        self.assertTrue(client.flush(10))
        sent = [each for request in self.service.requests for each in request]
        self.assertEqual([(each["lookup_key"], each["quantity"]) for each in sent], [("tokens", 1), ("tokens", 2)])
        self.assertFalse(any("meter_token" in each for each in sent))
        for wrong in ({}, {"meter_token": "m", "lookup_key": "tokens"}):
            with self.assertRaises(TypeError):
                Event(customer_external_id="acme", quantity=1, **wrong)
        with self.assertRaises(TypeError):
            Event("m")  # type: ignore[call-overload]

    def test_refuses_what_is_no_number_or_no_time_before_sending(self) -> None:
        client = self.client()
        for quantity in ("abc", "", "1,5", ".5", "1}", float("nan"), float("inf"), True, Decimal("NaN"), "١"):
            with self.assertRaises(ValueError):
                client.track(replace(event(1), quantity=quantity))
        with self.assertRaises(ValueError):
            client.track(replace(event(1), timestamp=datetime(2026, 1, 2)))
        for key in (7, True, b"k"):
            with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(TypeError, "^idempotency_key must be a str"):
                self.client(outbox=folder).queue(replace(event(1), idempotency_key=key))  # type: ignore[arg-type]
        self.assertEqual(self.service.requests, [])

    def test_repeats_with_the_same_key_what_may_succeed_later(self) -> None:
        def interfere(events: List[Any]) -> Any:
            if len(self.service.requests) == 1:
                return 503, {"code": "unavailable"}
            if len(self.service.requests) == 2:
                raise ConnectionResetError
            return (201, ["not", "an", "object"]) if len(self.service.requests) == 3 else None

        self.service.interfere = interfere
        self.assertFalse(self.client().track(Event("m", "acme", 1)).duplicate)
        self.assertEqual(len({key for [key] in self.service.keys()}), 1)
        self.assertEqual(len(self.service.requests), 4)

    def test_a_refusal_is_raised_at_once_and_says_what_and_why(self) -> None:
        problem = {"code": "invalid_request", "detail": "quantity must be greater than 0", "request_id": "r1"}
        self.service.interfere = lambda events: (422, {**problem, "errors": [{"path": "quantity", "message": "no"}]})
        with self.assertRaises(WeirError) as raised:
            self.client().track(event(0))
        error = raised.exception
        self.assertEqual((error.status, error.code, error.request_id), (422, "invalid_request", "r1"))
        self.assertEqual((error.transient, error.idempotency_keys), (False, ("k0",)))
        self.assertEqual(error.errors[0]["path"], "quantity")
        self.assertEqual(len(self.service.requests), 1)

    def test_an_attempt_ends_at_its_time_limit_however_slowly_an_answer_drips(self) -> None:
        is_over = threading.Event()
        self.addCleanup(is_over.set)
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def drip() -> None:
            connection, _ = listener.accept()
            with connection:
                try:
                    connection.sendall(b"HTTP/1.1 200 OK\r\n")
                    while not is_over.wait(0.05):
                        connection.sendall(b"x: y\r\n")
                except OSError:
                    # The client has hung up.
                    pass

        threading.Thread(target=drip, daemon=True).start()
        client = Client(f"http://127.0.0.1:{listener.getsockname()[1]}", "k", retries=0)
        began = time.monotonic()
        with self.assertRaises(WeirError) as raised:
            client.track(event(1), timeout=0.3)
        self.assertEqual(raised.exception.code, "timeout")
        self.assertLess(time.monotonic() - began, 2)

    def test_nobody_listens(self) -> None:
        client = Client("http://127.0.0.1:9", "k", retries=0)
        with self.assertRaises(WeirError) as raised:
            client.track(event(1))
        self.assertEqual((raised.exception.code, raised.exception.transient), ("network_error", True))

    def test_a_batch_has_an_outcome_for_each_event(self) -> None:
        statuses = [201, 503, 422, 409]
        codes = {503: "unavailable", 422: "invalid_request", 409: "duplicate_event"}
        items = [{"status": status, "id": "x", "code": codes.get(status)} for status in statuses]
        self.service.interfere = lambda events: (207, {"data": items}) if len(self.service.requests) == 1 else None
        outcomes = self.client().track_batch([event(n) for n in range(4)])
        self.assertEqual(self.service.keys(), [["k0", "k1", "k2", "k3"], ["k1"]])
        self.assertEqual(outcomes[0], Tracked("x", False))
        self.assertEqual(outcomes[1], Tracked("k1", False))
        self.assertIsInstance(outcomes[2], WeirError)
        self.assertEqual(outcomes[3], Tracked("x", True))

    def test_an_event_that_a_proxy_refuses_or_that_was_not_tried_then_has_an_error_with_its_own_key(self) -> None:
        self.service.interfere = lambda events: (
            (403, "<html>attack</html>") if any(each["quantity"] in (1, 2, 3) for each in events) else None
        )
        events = [event(n) for n in range(7)]
        first, *errors, last = self.client().track_batch(events)
        # Of those behind, the last one is tried.
        self.assertEqual((first, last), (Tracked("k0", False), Tracked("k6", False)))
        said = [(each.idempotency_keys, each.transient) for each in errors if isinstance(each, WeirError)]
        self.assertEqual(said, [((f"k{n}",), n > 3) for n in range(1, 6)])

        self.service.interfere = lambda events: (403, "<html>no</html>")
        with self.assertRaises(WeirError) as raised:
            self.client().track_batch(events)
        self.assertEqual(raised.exception.idempotency_keys, tuple(f"k{n}" for n in range(7)))


class TestWidgetToken(WithService):
    token = {"token": "wgt_x", "expires_at": "2026-11-20T10:30:00Z"}

    def request_keys(self) -> List[Any]:
        return [headers.get("idempotency-key") for headers in self.service.headers]

    def answer(self, *replies: Any) -> None:
        left = list(replies)

        def interfere(_: Any) -> Any:
            reply = left.pop(0)
            if reply is None:
                raise ConnectionResetError
            return reply

        self.service.interfere = interfere

    def test_is_one_write_however_often_it_is_sent(self) -> None:
        self.answer((503, {}), None, (409, {"code": "request_under_way"}), (201, self.token), (201, self.token))
        client = self.client()
        self.assertEqual(client.widget_token("acme"), self.token)
        client.widget_token("acme")
        *same, other = self.request_keys()
        self.assertEqual((len(set(same)), len(same[0] or "")), (1, 36))
        self.assertNotIn(other, same)

    def test_another_one_is_made_where_the_answer_with_the_first_got_lost(self) -> None:
        withheld = (201, {**self.token, "token": None})
        self.answer(None, withheld, (201, self.token))
        self.assertEqual(self.client().widget_token("acme"), self.token)
        first, second, third = self.request_keys()
        self.assertEqual((first == second, second == third), (True, False))
        self.answer(withheld, withheld, withheld)
        with self.assertRaises(WeirError) as raised:
            self.client().widget_token("acme")
        self.assertEqual((raised.exception.code, raised.exception.transient), ("secret_lost", True))

    def test_an_event_has_its_key_in_itself(self) -> None:
        client = self.client()
        client.track(event(1))
        client.track_batch([event(2)])
        self.assertEqual(self.request_keys(), [None, None])


class TestQueue(WithService):
    def test_a_full_batch_goes_at_once_and_the_rest_after_the_interval(self) -> None:
        client = self.client(batch_events_max=10, interval=0.1, concurrency=1)
        for n in range(25):
            client.queue(event(n))
        self.service.until_sent(3)
        self.assertEqual([len(events) for events in self.service.requests], [10, 10, 5])
        self.assertTrue(client.flush(5))
        self.assertEqual(client.queued_bytes, 0)

    def test_flush_waits_for_what_was_queued_before_it_and_no_longer(self) -> None:
        for outbox in (False, True):
            with self.subTest(outbox=outbox), tempfile.TemporaryDirectory() as folder:
                release = threading.Event()
                self.addCleanup(release.set)

                def interfere(events: List[Any], release: threading.Event = release) -> None:
                    if events[0]["idempotency_key"] == "k1":
                        client.queue(event(2))
                    else:
                        release.wait(30)

                self.service.interfere = interfere
                self.service.accepted.clear()
                client = self.client(interval=60, **({"outbox": folder} if outbox else {}))
                client.queue(event(1))
                self.assertTrue(client.flush(10))
                self.assertEqual(self.service.accepted, ["k1"])
                self.assertFalse(client.flush(0.05))
                release.set()
                self.assertTrue(client.close().is_done)

    def test_an_outage_is_told_of_once_and_again_when_the_client_is_closed(self) -> None:
        self.service.interfere = lambda events: (502, "<html>away</html>") if len(self.service.requests) <= 20 else None
        client = self.client()
        # No time between the attempts.
        with self.assertLogs("weir") as logs, mock.patch("random.uniform", return_value=0.0):
            client.queue(event(1))
            self.assertTrue(client.flush(20))
            self.assertEqual(len(logs.output), 1)
            self.assertIn("What is queued waits: http_502", logs.output[0])
            client.close()
        self.assertIn("and 13 more like it", logs.output[1])

    def test_an_event_gets_a_key_and_the_present_time(self) -> None:
        client = self.client()
        before = datetime.now(timezone.utc)
        key = client.queue(Event("m", "acme", 1))
        client.close()
        [sent] = self.service.requests[0]
        self.assertEqual(sent["idempotency_key"], key)
        self.assertGreaterEqual(datetime.fromisoformat(sent["timestamp"]), before)

    def test_a_full_queue_waits_or_raises(self) -> None:
        release = threading.Event()
        self.addCleanup(release.set)
        self.service.interfere = lambda events: release.wait(10) and None
        for limits in ({"events_max": 3}, {"bytes_max": 450}):
            client = self.client(**limits, when_full="raise", batch_events_max=1)
            with self.assertRaises(WeirError) as raised:
                for n in range(10):
                    client.queue(event(n))
            self.assertEqual((raised.exception.code, raised.exception.idempotency_keys), ("queue_full", ("k3",)))
        client = self.client(events_max=3)
        for n in range(3):
            client.queue(event(n))
        with self.assertRaises(WeirError):
            client.queue(event(3), timeout=0.05)
        waiting = threading.Thread(target=client.queue, args=(event(4),))
        waiting.start()
        release.set()
        waiting.join(10)
        self.assertTrue(client.flush(10))
        self.assertIn("k4", self.service.accepted)
        self.assertNotIn("k3", self.service.accepted[-2:])

    def test_an_outage_is_outlasted_and_a_refused_event_is_told_of_once(self) -> None:
        statuses = [201, 503, 409, 422, 500]
        codes = {409: "duplicate_event", 422: "invalid_request"}

        def interfere(events: List[Any]) -> Any:
            if len(self.service.requests) == 1:
                return 503, {"outcome": "unknown"}
            if len(self.service.requests) > 2:
                return None
            return 207, {"data": [{"status": status, "id": "x", "code": codes.get(status)} for status in statuses]}

        self.service.interfere = interfere
        refused: List[Any] = []
        client = self.client(on_refused=lambda error, event: refused.append((error.status, event)))
        for n in range(5):
            client.queue(replace(event(n), quantity="0.10"))
        self.assertTrue(client.flush(10))
        everything = ["k0", "k1", "k2", "k3", "k4"]
        self.assertEqual(self.service.keys(), [everything, everything, ["k1", "k4"]])
        [(status, which)] = refused
        self.assertEqual((status, which.idempotency_key, which.quantity), (422, "k3", "0.10"))

    def test_an_event_that_spoils_its_request_is_found_and_a_wrong_key_refuses_all_once(self) -> None:
        refused: List[str] = []
        self.service.interfere = lambda events: (
            (413, {"code": "payload_too_large"}) if any(e["quantity"] == 77 for e in events) else None
        )
        client = self.client(on_refused=lambda error, event: refused.append(event.idempotency_key or ""))
        for n in range(1, 101):
            client.queue(event(n))
        client.close()
        self.assertEqual((refused, len(self.service.accepted)), (["k77"], 99))

        self.service.requests.clear()
        self.service.interfere = lambda events: (401, {"code": "unauthenticated"})
        client = self.client(on_refused=lambda error, event: refused.extend((error.code, *error.idempotency_keys)))
        client.queue(event(1))
        client.queue(event(2))
        self.assertTrue(client.flush(10))
        told = ["unauthenticated", "k1", "unauthenticated", "k2"]
        self.assertEqual((refused[1:], len(self.service.requests)), (told, 1))

    def test_a_flood_of_refused_events_is_one_error_and_one_more_with_their_number_at_the_end(self) -> None:
        refusal = {"status": 422, "code": "invalid_request", "detail": "ahead"}
        self.service.interfere = lambda events: (207, {"data": [refusal] * len(events)})
        client = self.client()
        with self.assertLogs("weir") as logs:
            for n in range(3000):
                client.queue(event(n))
            self.assertTrue(client.flush(20))
            self.assertEqual(len(logs.output), 1)
            self.assertIn("for good, and no on_refused keeps it: ", logs.output[0])
            client.close()
        self.assertEqual(len(logs.output), 2)
        self.assertTrue(logs.output[1].endswith("(and 2998 more like it since the last warning)"))

    def test_a_listener_that_raises_for_each_of_many_is_told_of_once(self) -> None:
        self.service.interfere = lambda events: (207, {"data": [{"status": 422, "code": "no"}] * len(events)})
        client = self.client(on_refused=lambda error, _: 1 / 0)
        with self.assertLogs("weir") as logs:
            for n in range(100):
                client.queue(event(n))
            self.assertTrue(client.close().is_done)
        self.assertEqual(len(logs.output), 2)
        self.assertIn("ZeroDivisionError", logs.output[0])

    def test_close_gives_back_what_has_no_answer_and_takes_nothing_more(self) -> None:
        release = threading.Event()
        self.addCleanup(release.set)
        self.service.interfere = lambda events: release.wait(10) and None
        client = self.client(batch_events_max=1, concurrency=1)
        for n in range(3):
            client.queue(event(n))
        began = time.monotonic()
        result = client.close(0.1)
        self.assertLess(time.monotonic() - began, 3)
        self.assertEqual([e.idempotency_key for e in result.unsent], ["k0", "k1", "k2"])
        with self.assertRaises(WeirError) as raised:
            client.queue(event(9))
        self.assertEqual(raised.exception.code, "queue_closed")

    def test_a_queue_that_is_asked_to_wait_for_an_hour_waits_for_a_minute(self) -> None:
        self.service.interfere = lambda events: (429, {"code": "rate_limited"})
        self.service.more_headers = {"retry-after": "3600"}
        waits: "queue.Queue[float]" = queue.Queue()
        client = Client(self.service.url, "k", on_retry=lambda _, delay: waits.put(delay), queue=QueueOptions(interval=0.0))
        client.queue(event(1))
        self.assertEqual(waits.get(timeout=10), 60)
        self.assertEqual(len(client.close(0).unsent), 1)

    def test_proxies_of_the_environment_are_not_used(self) -> None:
        names = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
        with mock.patch.dict(os.environ, dict.fromkeys(names, "http://127.0.0.1:1")), Client(self.service.url, "k") as client:
            self.assertFalse(client.track(event(1), retries=0).duplicate)

    def test_options_that_make_no_sense_are_refused(self) -> None:
        for options in ({"batch_events_max": 1001}, {"concurrency": 0}, {"when_full": "drop"}):
            with self.assertRaises(ValueError):
                QueueOptions(**options)
        with self.assertRaises(ValueError):
            Client("usage.example.com", "k")
        for address in ("https://ada:secret@usage.example.com", "https://ada@usage.example.com", "https://usage.example.com/?a=b#c"):
            with self.assertRaisesRegex(ValueError, "^base_url must be the address of Weir, .*, without [a-z, ]+$"):
                Client(address, "k")
        with self.assertRaisesRegex(ValueError, "^api_key must be an API key of your organization"):
            Client("https://usage.example.com", "")


PROGRAM = """
import os, sys, time
from weir import Client, Event, QueueOptions
client = Client(sys.argv[1], "org_live_x", queue=QueueOptions(interval=60, exit_on_sigterm=True))
"""


class TestEndOfProcess(WithService):
    def run_program(self, code: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM + code, self.service.url],
            env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(__file__)))},
            stdout=subprocess.PIPE,
        )

    def test_what_is_queued_is_sent_when_the_process_ends(self) -> None:
        with self.run_program("client.queue(Event('m', 'acme', 1, idempotency_key='at-exit'))") as process:
            self.assertEqual(process.wait(20), 0)
        self.assertEqual(self.service.accepted, ["at-exit"])

    def test_the_end_does_not_wait_for_a_look_up_of_the_host_that_does_not_end(self) -> None:
        code = """
import socket, threading
has_begun = threading.Event()
def getaddrinfo(*_, **__):
    has_begun.set()
    time.sleep(60)
socket.getaddrinfo = getaddrinfo
client = Client(sys.argv[1], "k", queue=QueueOptions(interval=0.0, exit_timeout=0.1))
client.queue(Event('m', 'acme', 1, idempotency_key='k'))
has_begun.wait()
sys.stderr = sys.stdout
"""
        with self.run_program(code) as process:
            self.addCleanup(process.kill)
            self.assertEqual(process.wait(20), 0)
            assert process.stdout is not None
            self.assertEqual(process.stdout.read(), b"The process ends with 1 events that were not sent.\n")

    @unittest.skipIf(os.name == "nt", "Windows has no SIGTERM and no fork")
    def test_at_sigterm_where_that_is_asked_for(self) -> None:
        code = "client.queue(Event('m', 'acme', 1, idempotency_key='k')); print('queued', flush=True); time.sleep(60)"
        with self.run_program(code) as process:
            assert process.stdout is not None
            self.assertEqual(process.stdout.readline(), b"queued\n")
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(20), 128 + signal.SIGTERM)
        self.assertEqual(self.service.accepted, ["k"])

    @unittest.skipIf(os.name == "nt", "Windows has no SIGTERM and no fork")
    def test_the_child_of_a_fork_sends_its_own_events_and_the_parent_its_own(self) -> None:
        code = """
client.queue(Event('m', 'acme', 1, idempotency_key='parent'))
child = os.fork()
if child == 0:
    client.queue(Event('m', 'acme', 1, idempotency_key='child'))
else:
    os.waitpid(child, 0)
"""
        with self.run_program(code) as process:
            self.assertEqual(process.wait(20), 0)
        self.assertEqual(sorted(self.service.keys()), [["child"], ["parent"]])

    @unittest.skipIf(os.name == "nt", "Windows has no SIGTERM and no fork")
    def test_the_child_of_a_fork_has_nothing_of_a_client_that_its_parent_let_go(self) -> None:
        code = """
import gc, warnings
# From Python 3.12 on a fork beside threads is told of as one that may block; this child ends at once.
warnings.simplefilter("ignore", DeprecationWarning)
sys.stderr = sys.stdout
client.queue(Event('m', 'acme', 1, idempotency_key='parent'))
del client
gc.collect()
child = os.fork()
if child != 0:
    os.waitpid(child, 0)
"""
        with self.run_program(code) as process:
            assert process.stdout is not None
            # Not that it ends with events that it did not send: they are the parent's.
            self.assertEqual((process.stdout.read(), process.wait(20)), (b"", 0))
        self.assertEqual(self.service.keys(), [["parent"]])


if __name__ == "__main__":
    unittest.main()
