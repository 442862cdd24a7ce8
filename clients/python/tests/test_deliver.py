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
        """Weir takes so many events in a minute, by a limit of this name. The minute ends with the first answer that nothing is left."""
        left = quota

        def count(events: List[Any]) -> Any:
            nonlocal left
            if len(events) <= left:
                left -= len(events)
                return None
            self.service.more_headers = {"RateLimit": f'"tracking-per-address";r=1;t=40, "{name}";r={left};t=40'}
            left = left or quota
            return 429, {"code": "rate_limited"}

        self.service.interfere = count

    def test_of_a_batch_that_is_more_than_what_weir_takes_in_a_minute_goes_so_much_and_the_others_wait(self) -> None:
        self.limit_to(6, "events-per-key")
        self.queue_ten(self.client())
        self.assertEqual(self.sizes(), [10, 6, 4, 4])

    def test_what_others_have_left_of_the_minute_is_used_up_and_each_wait_for_a_minute_is_a_retry(self) -> None:
        self.limit_to(3, "events-per-key")
        self.client().track_batch([event(11), event(12)])
        told: List[int] = []
        client = Client(self.service.url, "k", on_retry=lambda error, _: told.append(error.status))
        outcomes = client.track_batch([event(n) for n in range(10)], retries=2)
        self.assertEqual([isinstance(each, WeirError) for each in outcomes], [False] * 7 + [True] * 3)
        self.assertEqual(self.sizes(), [2, 10, 1, 9, 9, 3, 6, 6, 3, 3])
        self.assertEqual(told, [429, 429])

    def test_by_a_limit_of_requests_and_where_nothing_is_left_of_a_minute_nothing_goes_in_more_requests(self) -> None:
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
        # The halves of a half; on a busy machine they, too, may have to be sent once more.
        self.assertLessEqual({3, 2}, set(self.sizes()))
        self.service.interfere = lambda events: (408, {}) if len(events) > 3 else None
        self.queue_ten(self.client())
        self.assertEqual(self.sizes(), [10, 10, 5, 5, 3, 2, 5, 5, 3, 2])

    def test_an_event_of_which_an_answer_got_lost_is_not_told_as_if_it_had_left_no_trace(self) -> None:
        shed = {"status": 503, "code": "unavailable", "outcome": "not_accepted"}
        lost, answered = (502, "<html>"), (207, {"data": [shed, shed]})
        for attempts, told in (
            ([lost, answered], "unknown"),
            ([answered, lost], "unknown"),
            ([answered, answered], "not_accepted"),
        ):
            replies = iter(attempts)
            self.service.interfere = lambda events: next(replies)
            outcomes = self.client().track_batch([event(1), event(2)], retries=1)
            self.assertEqual([each.outcome for each in outcomes if isinstance(each, WeirError)], [told, told])

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
