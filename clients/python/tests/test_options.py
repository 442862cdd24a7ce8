"""Options that are numbers: those that make no sense are refused when they are given, and infinity is no limit."""

import math
import re
import unittest
from typing import Any, Dict, Tuple

from fake_service import WithService, event

from weir import Client, QueueOptions


class TestOptions(WithService):
    def test_one_that_makes_no_sense_is_refused_when_it_is_given(self) -> None:
        def client(**options: Any) -> Client:
            return Client(self.service.url, "k", **options)

        above = "must be a number of seconds above 0, and not"
        least = "must be a number of seconds from 0, and not"
        cases: Tuple[Tuple[Any, Dict[str, Any], str], ...] = (
            (client, {"timeout": 0}, f"timeout {above} 0"),
            (client, {"timeout": math.nan}, f"timeout {above} nan"),
            (client, {"timeout": None}, f"timeout {above} None"),
            (client, {"timeout": "5"}, f"timeout {above} '5'"),
            (client, {"retries": -1}, "retries must be a number from 0, and not -1"),
            (client, {"retries": None}, "retries must be a number from 0, and not None"),
            (QueueOptions, {"interval": math.nan}, f"interval {least} nan"),
            (QueueOptions, {"exit_timeout": -1}, f"exit_timeout {least} -1"),
        )
        for make, options, message in cases:
            with self.subTest(options), self.assertRaisesRegex(ValueError, f"^{re.escape(message)}$"):
                make(**options)

    def test_a_call_refuses_it_before_anything_is_sent_or_closed(self) -> None:
        client = self.client()
        for call in (
            lambda: client.track(event(1), timeout=0),
            lambda: client.track_batch([event(1)], timeout=math.nan),
            lambda: client.track_batch([event(1)], retries=-1),
            lambda: client.customers(retries="4"),
            lambda: client.close(math.nan),
        ):
            with self.assertRaises(ValueError):
                call()
        self.assertEqual(self.service.requests, [])
        client.queue(event(1))
        with self.assertRaises(ValueError):
            client.flush(math.nan)
        self.assertTrue(client.close().is_done)

    def test_infinity_is_no_limit(self) -> None:
        options = QueueOptions(interval=math.inf, exit_timeout=math.inf)
        with Client(self.service.url, "k", timeout=math.inf, queue=options) as client:
            client.track(event(1), retries=0)
            client.queue(event(2), timeout=math.inf)
            self.assertTrue(client.flush(math.inf))
            client.queue(event(3))
            self.assertTrue(client.close(math.inf).is_done)
        client = self.client()
        client.queue(event(4))
        self.assertTrue(client.close(None).is_done)
        self.assertEqual(self.service.accepted, ["k1", "k2", "k3", "k4"])


if __name__ == "__main__":
    unittest.main()
