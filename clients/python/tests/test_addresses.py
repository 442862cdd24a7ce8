"""A host with several addresses, of which some do not answer, and a client that is closed while it connects."""

import socket
import ssl
import threading
import time
import unittest
from typing import Any, Callable, List
from unittest import mock

from fake_service import WithService, event

from weir import Client, QueueOptions, Tracked


class TestAddresses(WithService):
    def silent(self) -> int:
        """Returns a port that takes no connection and refuses none: its backlog is full."""
        listener = socket.socket()
        self.addCleanup(listener.close)
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            one = socket.socket()
            self.addCleanup(one.close)
            one.setblocking(False)
            one.connect_ex(listener.getsockname())
        return listener.getsockname()[1]

    def resolve(self, *ports: int, look: Callable[[], Any] = lambda: None) -> None:
        """Has the host's name lead to these ports, in this order; ``look`` is the look-up."""
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)) for port in ports]

        def getaddrinfo(*_: Any, **__: Any) -> List[Any]:
            look()
            return found

        patch = mock.patch("socket.getaddrinfo", getaddrinfo)
        patch.start()
        self.addCleanup(patch.stop)

    @property
    def port(self) -> int:
        return int(self.service.url.rsplit(":", 1)[1])

    def test_one_that_does_not_answer_leaves_time_for_the_others(self) -> None:
        self.resolve(self.silent(), self.port)
        # Each has half of it, in which a busy machine has to come to the answer.
        with Client(self.service.url, "k", timeout=4) as client:
            self.assertEqual(client.track(event(1), retries=0), Tracked("k1", False))

    def test_the_look_up_of_the_name_takes_no_time_of_the_attempt(self) -> None:
        late = [0.0]
        now = time.monotonic
        self.resolve(self.port, look=lambda: late.append(60.0))
        with mock.patch("weir._transport.time") as clock, Client(self.service.url, "k") as client:
            clock.monotonic = lambda: now() + late[-1]
            self.assertEqual(client.track(event(1), retries=0), Tracked("k1", False))

    def test_close_does_not_wait_for_a_look_up_that_does_not_end_and_gives_back_what_waits_for_it(self) -> None:
        has_begun, answered = threading.Event(), threading.Event()
        self.addCleanup(answered.set)

        def look() -> None:
            has_begun.set()
            answered.wait(30)

        self.resolve(self.port, look=look)
        client = self.client(interval=0.0, concurrency=1)
        client.queue(event(1))
        self.assertTrue(has_begun.wait(10))
        client.queue(event(2))
        started = time.monotonic()
        result = client.close(0.05)
        self.assertLess(time.monotonic() - started, 10)
        self.assertFalse(result.is_done)
        self.assertEqual([each.idempotency_key for each in result.unsent], ["k1", "k2"])
        # What was given back is not sent when the look-up ends after all.
        [thread] = [each for each in threading.enumerate() if each.name == "weir-0"]
        answered.set()
        thread.join(10)
        self.assertEqual((thread.is_alive(), self.service.requests), (False, []))

    def test_close_does_not_wait_for_a_connection_that_is_being_made(self) -> None:
        port = self.silent()
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        for url, where, step in (
            (f"http://127.0.0.1:{port}", socket.socket, "connect"),
            # It takes the connection, and says nothing.
            (f"https://127.0.0.1:{listener.getsockname()[1]}", ssl.SSLSocket, "do_handshake"),
        ):
            has_begun = threading.Event()
            go_on = getattr(where, step)

            def begin(*args: Any, has_begun: threading.Event = has_begun, go_on: Callable[..., Any] = go_on) -> Any:
                has_begun.set()
                return go_on(*args)

            with self.subTest(step), mock.patch.object(where, step, begin):
                client = Client(url, "k", timeout=20, queue=QueueOptions(interval=0.0))
                client.queue(event(1))
                self.assertTrue(has_begun.wait(10))
                started = time.monotonic()
                self.assertEqual(len(client.close(0.05).unsent), 1)
                self.assertLess(time.monotonic() - started, 10)


if __name__ == "__main__":
    unittest.main()
