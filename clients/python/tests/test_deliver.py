"""What Weir, or the way to it, takes only in smaller requests than those that the client makes."""

import threading
import unittest
from typing import Any, List
from unittest import mock

from fake_service import WithService, event

from weir import Client, WeirError


class TestSmallerRequests(WithService):
    def setUp(self) -> None:
        super().setUp()
        # No time between the attempts.
        no_wait = mock.patch("random.uniform", return_value=0.0)
        no_wait.start()
        self.addCleanup(no_wait.stop)

    def queue_ten(self, client: Client) -> None:
        self.service.requests.clear()
        self.service.accepted.clear()
        for n in range(1, 11):
            client.queue(event(n))
        self.assertTrue(client.close(30).is_done)
        self.assertEqual(len(self.service.accepted), 10)

    def sizes(self) -> List[int]:
        return [len(events) for events in self.service.requests]

    def limit_to(self, quota: int, name: str) -> None:
        """Weir refuses more than so many events, as it does by a limit of this name."""
        self.service.more_headers = {"RateLimit-Policy": f'"requests-per-key";q=1;w=60, "{name}";q={quota};w=60'}
        self.service.interfere = lambda events: (429, {"code": "rate_limited"}) if len(events) > quota else None

    def test_a_batch_of_more_events_than_weir_takes_in_a_minute_is_tried_once_and_goes_in_smaller_requests(self) -> None:
        self.limit_to(3, "events-per-key")
        self.queue_ten(self.client())
        self.assertEqual(self.sizes(), [10, 3, 2, 3, 2])

    def test_by_a_limit_of_requests_and_where_no_minute_is_long_enough_nothing_goes_in_more_requests(self) -> None:
        self.limit_to(3, "tracking-per-address")
        with self.assertRaises(WeirError) as raised:
            self.client().track_batch([event(n) for n in range(10)], retries=2)
        self.assertEqual(raised.exception.code, "rate_limited")
        self.limit_to(0, "events-per-key")
        with self.assertRaises(WeirError) as raised:
            self.client().track_batch([event(1)], retries=1)
        self.assertEqual((raised.exception.code, self.sizes()), ("rate_limited", [10, 10, 10, 1, 1]))

    def test_a_batch_that_twice_got_no_answer_in_time_or_408_goes_on_in_halves(self) -> None:
        is_over = threading.Event()
        self.addCleanup(is_over.set)

        def hang(events: List[Any]) -> Any:
            if len(events) > 3:
                is_over.wait(30)
                raise ConnectionResetError

        self.service.interfere = hang
        self.queue_ten(Client(self.service.url, "k", timeout=0.05))
        self.service.interfere = lambda events: (408, {}) if len(events) > 3 else None
        self.queue_ten(self.client())
        self.assertEqual(self.sizes(), [10, 10, 5, 5, 3, 2, 5, 5, 3, 2])

    def test_an_event_is_sent_no_more_often_than_asked_for_in_halves_or_not(self) -> None:
        self.service.interfere = lambda events: (408, {})
        told: List[int] = []
        client = Client(self.service.url, "k", on_retry=lambda error, _: told.append(error.status))
        with self.assertRaises(WeirError) as raised:
            client.track_batch([event(n) for n in range(10)], retries=4)
        self.assertEqual((raised.exception.status, told), (408, [408] * 4))
        self.assertEqual(self.sizes(), [10, 10, 5, 5, 3])


if __name__ == "__main__":
    unittest.main()
