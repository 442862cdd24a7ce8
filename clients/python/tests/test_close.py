"""The end of a client: who waits for it, and who is told of what it leaves."""

import logging
import tempfile
import threading
import unittest
from typing import Any, List

from fake_service import WithService, event

from weir import Client, QueueOptions


class TestFlush(WithService):
    def test_ends_with_a_close_that_leaves_something_and_says_so(self) -> None:
        release = threading.Event()
        self.addCleanup(release.set)
        self.service.interfere = lambda events: release.wait(30) and None
        for outbox in (False, True):
            with self.subTest(outbox=outbox), tempfile.TemporaryDirectory() as folder:
                self.service.requests.clear()
                client = self.client(interval=60, **({"outbox": folder} if outbox else {}))
                client.queue(event(1))
                flushed: List[bool] = []

                def flush(timeout: Any, client: Client = client, flushed: List[bool] = flushed) -> None:
                    flushed.append(client.flush(timeout))

                threads = [threading.Thread(target=flush, args=(timeout,), daemon=True) for timeout in (None, 60)]
                for thread in threads:
                    thread.start()
                # One of them waits by now: nothing else sends for a minute.
                self.service.until_sent(1)
                self.assertFalse(client.close(0.05).is_done)
                for thread in threads:
                    thread.join(10)
                self.assertEqual(flushed, [False, False])
                self.assertFalse(client.flush())

    def test_says_of_a_client_that_was_closed_with_nothing_left_that_all_is_settled(self) -> None:
        client = self.client()
        client.queue(event(1))
        self.assertTrue(client.close().is_done)
        self.assertTrue(client.flush())


class TestWith(WithService):
    def test_the_end_of_the_statement_tells_what_was_not_sent(self) -> None:
        self.service.interfere = lambda events: (503, {"code": "unavailable"})
        options = QueueOptions(exit_timeout=0.05)
        with self.assertLogs("weir", "ERROR") as logs, Client(self.service.url, "k", queue=options) as client:
            client.queue(event(1))
        self.assertIn("ERROR:weir:The with statement ends with 1 events that were not sent.", logs.output)

    def test_who_has_closed_the_client_within_it_has_been_told(self) -> None:
        self.service.interfere = lambda events: (503, {"code": "unavailable"})
        with self.assertLogs("weir", "ERROR") as logs:
            with Client(self.service.url, "k") as client:
                client.queue(event(1))
                self.assertEqual(len(client.close(0).unsent), 1)
            logging.getLogger("weir").error("nothing else")
        self.assertEqual(logs.output, ["ERROR:weir:nothing else"])


if __name__ == "__main__":
    unittest.main()
