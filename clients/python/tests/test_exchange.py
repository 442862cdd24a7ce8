"""All of an answer, as `exchange`, `request` and `file` read it."""

import copy
import pickle
import socket
import threading
import unittest
from datetime import datetime, timezone
from typing import Any, List, get_type_hints

from fake_service import FakeService

from weir import Client, Reply, WeirError
from weir._answer import parse_retry_after, read_answer, read_file_or_raise
from weir._request import query_string


class TestExchange(unittest.TestCase):
    def setUp(self) -> None:
        self.service = FakeService()
        self.addCleanup(self.service.close)
        self.client = Client(self.service.url, "k")
        self.addCleanup(self.client.close)

    def test_an_etag_that_was_weakened_on_its_way_is_taken_as_weir_wrote_it(self) -> None:
        self.service.interfere = lambda events: (200, {"id": "c1"})
        for sent in ('"one"', 'W/"one"'):
            self.service.more_headers = {"etag": sent}
            read = self.client.exchange("POST", "/customers", {"name": "Ada"})
            self.assertEqual((read.etag, read.headers["etag"]), ('"one"', sent))
        self.service.more_headers = {}
        self.assertIsNone(self.client.exchange("POST", "/customers", {"name": "Ada"}).etag)

    def test_a_write_is_told_of_all_its_attempts_and_of_the_key_that_settles_it(self) -> None:
        shed, doubtful = ((503, {"code": "unavailable", "outcome": each}) for each in ("not_accepted", "unknown"))
        for attempts, told in (
            ([shed, shed], "not_accepted"),
            ([(429, {"code": "rate_limited"}), shed], "not_accepted"),
            ([doubtful, shed], "unknown"),
            ([(502, "<html>"), shed], "unknown"),
            ([shed, doubtful], "unknown"),
        ):
            replies = iter(attempts)
            self.service.interfere = lambda events: next(replies)
            with self.subTest(attempts), self.assertRaises(WeirError) as raised:
                self.client.request("POST", "/customers", {}, retries=1)
            self.assertEqual(raised.exception.outcome, told)
            self.assertEqual(raised.exception.idempotency_keys, (self.service.headers[-1]["idempotency-key"],))

    def test_what_of_an_answer_is_not_shown_twice_is_said(self) -> None:
        self.service.interfere = lambda events: (201, {"id": "k1", "key": None})
        self.service.more_headers = {"idempotent-replay": "true", "idempotent-withheld": "key, scopes"}
        with self.assertRaises(WeirError) as raised:
            self.client.request("POST", "/api-keys", {}, idempotency_key="mine")
        self.assertEqual((raised.exception.code, raised.exception.transient), ("answer_withheld", False))
        self.assertIn("key, scopes", raised.exception.detail)
        self.assertIn("sent with another key it is done twice", raised.exception.detail)
        self.assertEqual(self.client.exchange("POST", "/api-keys", {}).withheld, ["key", "scopes"])
        # It was done, and nothing of the answer is kept.
        self.service.interfere = lambda events: (201, {})
        self.service.more_headers = {"idempotent-replay": "true"}
        self.assertEqual(self.client.request("POST", "/customers", {}), {})

    def test_a_key_of_any_language_is_sent_as_its_utf_8_in_which_weir_reads_it(self) -> None:
        self.client.request("POST", "/customers", {"idempotency_key": "x"}, idempotency_key="für→ оплата")
        self.assertEqual(self.service.headers[0]["idempotency-key"].encode("latin-1").decode(), "für→ оплата")

    def test_a_key_that_would_not_arrive_as_it_is_is_refused_before_anything_is_sent(self) -> None:
        for key in ("", " a", "a\t", "a\r\nhost: b", "a\0", "\ud800"):
            with self.subTest(key), self.assertRaisesRegex(ValueError, "^idempotency_key must be a text"):
                self.client.request("POST", "/customers", {}, idempotency_key=key)
        with self.assertRaisesRegex(TypeError, "^idempotency_key must be a str"):
            self.client.request("POST", "/customers", {}, idempotency_key=7)  # type: ignore[arg-type]
        self.assertEqual(self.service.requests, [])

    def test_a_file_is_read_byte_for_byte(self) -> None:
        pdf = read_answer(200, b"%PDF\xff\x00", {"content-type": "application/pdf"})
        self.assertEqual(read_file_or_raise(pdf), (b"%PDF\xff\x00", None))
        for status, kind in ((200, "text/html"), (404, "application/problem+json")):
            with self.assertRaises(WeirError):
                read_file_or_raise(read_answer(status, b"{}", {"content-type": kind}))

    def test_a_csv_of_several_pages_is_one_file_and_each_page_is_retried_as_a_call_of_its_own(self) -> None:
        # A page may hold nothing and not be the last.
        pages: List[Any] = [("id\r\n1\r\n2\r\n", "one"), None, ("", "two"), ("é\r\n", None)]

        def interfere(_: Any) -> Any:
            page = pages.pop(0)
            if page is None:
                return 503, {"code": "unavailable"}
            text, following = page
            link = f'</about>; rel="about", </api/v1/lines?limit=2&cursor={following}>; rel="next"'
            self.service.more_headers = {"content-type": "text/csv; charset=utf-8", **({"link": link} if following else {})}
            return 200, text

        self.service.interfere = interfere
        with Client(f"{self.service.url}/below", "k") as client:
            self.assertEqual(client.file("/lines", query={"limit": 2}).decode(), "id\r\n1\r\n2\r\né\r\n")
        asked = [path.replace("/below/api/v1", "") for path in self.service.paths]
        second = "/lines?limit=2&cursor=one"
        self.assertEqual(asked, ["/lines?limit=2", second, second, "/lines?limit=2&cursor=two"])

    def test_what_is_no_csv_is_one_answer_although_there_is_a_page_behind_it(self) -> None:
        headers = {"content-type": "application/json", "link": '</api/v1/lines?cursor=one>; rel="next"'}
        self.assertEqual(read_file_or_raise(read_answer(200, b"{}", headers)), (b"{}", None))

    def test_a_kept_connection_that_breaks_is_an_attempt_that_is_told_and_counted(self) -> None:
        shed = (503, {"code": "unavailable", "outcome": "not_accepted"})
        for retries, told, sent in ((0, ("network_error", None), 2), (1, ("unavailable", "unknown"), 3)):
            replies: List[Any] = [(201, {"id": "c1"}), None, shed, shed]

            def interfere(_: Any, replies: List[Any] = replies) -> Any:
                reply = replies.pop(0)
                if reply is None:
                    raise ConnectionResetError
                return reply

            self.service.interfere = interfere
            self.service.requests.clear()
            heard: List[str] = []
            hear = lambda error, _, heard=heard: heard.append(error.code)  # noqa: E731
            with self.subTest(retries), Client(self.service.url, "k", on_retry=hear) as client:
                client.request("POST", "/customers", {})
                with self.assertRaises(WeirError) as raised:
                    client.request("POST", "/customers", {}, retries=retries)
                self.assertEqual((raised.exception.code, raised.exception.outcome), told)
                self.assertEqual((len(self.service.requests), heard), (sent, ["network_error"] * retries))

    def test_a_connection_that_the_service_closed_while_nobody_used_it_costs_no_attempt(self) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        closed = threading.Semaphore(0)

        def serve() -> None:
            for _ in range(2):
                connection, _ = listener.accept()
                with connection:
                    request = b""
                    while not request.endswith(b"{}"):
                        request += connection.recv(65536)
                    answer = b'HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: 11\r\n\r\n{"id":"c1"}'
                    connection.sendall(answer)
                closed.release()

        threading.Thread(target=serve, daemon=True).start()
        with Client(f"http://127.0.0.1:{listener.getsockname()[1]}", "k") as client:
            for _ in range(2):
                self.assertEqual(client.request("POST", "/customers", {}, retries=0), {"id": "c1"})
                self.assertTrue(closed.acquire(timeout=10))

    def test_what_is_answered_fits_any_of_the_types_of_billing(self) -> None:
        # As in `invoice: InvoiceWithLines = weir.request(…)`, which a dictionary would not.
        self.assertIs(get_type_hints(Client.request)["return"], Any)
        self.assertIs(get_type_hints(Reply)["body"], Any)

    def test_a_boolean_is_written_as_the_api_takes_it(self) -> None:
        self.assertEqual(query_string({"is_active": True, "is_draft": False, "n": 1}), "?is_active=true&is_draft=false&n=1")

    def test_a_date_without_a_zone_is_one_in_utc(self) -> None:
        now = datetime(2026, 1, 1, tzinfo=timezone.utc)
        for zone in ("GMT", "-0000", ""):
            self.assertEqual(parse_retry_after(f"Thu, 01 Jan 2026 00:00:30 {zone}".strip(), now), 30)

    def test_an_error_crosses_processes(self) -> None:
        errors = ({"path": "quantity", "message": "no"},)
        error = WeirError(status=422, code="no", detail="why", request_id="r1", is_from_weir=True, errors=errors)
        for copied in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
            self.assertEqual((copied.__dict__, str(copied)), (error.__dict__, "no: why"))
