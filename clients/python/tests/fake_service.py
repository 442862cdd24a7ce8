"""A service that takes every event once, unless a test has it answer otherwise. Who Weir is, `test_real.py` asks a real one."""

import json
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, Optional, Tuple

from weir import Client, Event, QueueOptions

Reply = Tuple[int, Any]


class FakeService:
    def __init__(self) -> None:
        self.requests: List[List[Dict[str, Any]]] = []
        self.paths: List[str] = []
        self.headers: List[Dict[str, str]] = []
        self.accepted: List[str] = []
        #: Returns an answer, None to let the service answer, or raises to break the connection.
        self.interfere: Callable[[List[Dict[str, Any]]], Optional[Reply]] = lambda events: None
        #: Sent with each answer, in place of its own where it has such a one.
        self.more_headers: Dict[str, str] = {}
        self._lock = threading.Condition()
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or "{}")
                events = body.get("events", [body])
                with service._lock:
                    service.requests.append(events)
                    service.paths.append(self.path)
                    service.headers.append({key.lower(): value for key, value in self.headers.items()})
                    service._lock.notify_all()
                try:
                    reply = service.interfere(events) or service._take(body)
                except ConnectionError:
                    self.close_connection = True
                    self.connection.close()
                    return
                # What is text comes from a proxy before the service; a refusal of the service is a problem of its own.
                text, kind = reply[1], "text/html"
                if not isinstance(text, str):
                    kind = "application/json"
                    if reply[0] >= 300:
                        text = {"code": "refused", "status": reply[0], "request_id": "r1", **text}
                        kind = "application/problem+json"
                    text = json.dumps(text)
                text = text.encode()
                try:
                    self.send_response(reply[0])
                    length = str(len(text))
                    for name, value in {"content-type": kind, "content-length": length, **service.more_headers}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(text)
                except ConnectionError:
                    # A client that was closed does not wait for its answer.
                    self.close_connection = True

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def until_sent(self, count: int) -> None:
        with self._lock:
            if not self._lock.wait_for(lambda: len(self.requests) >= count, 10):
                raise AssertionError(f"waited in vain for {count} requests; {len(self.requests)} came")

    def keys(self) -> List[List[str]]:
        return [[event["idempotency_key"] for event in events] for events in self.requests]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _take(self, body: Dict[str, Any]) -> Reply:
        with self._lock:
            items = [self._take_one(event["idempotency_key"]) for event in body.get("events", [body])]
        return (207, {"data": items}) if "events" in body else (items[0]["status"], items[0])

    def _take_one(self, key: str) -> Dict[str, Any]:
        if key in self.accepted:
            return {"status": 409, "code": "duplicate_event", "id": key}
        self.accepted.append(key)
        return {"status": 201, "id": key}


def event(n: int) -> Event:
    return Event("m", "acme", n, idempotency_key=f"k{n}")


class WithService(unittest.TestCase):
    def setUp(self) -> None:
        self.service = FakeService()
        self.addCleanup(self.service.close)

    def client(self, **options: Any) -> Client:
        client = Client(self.service.url, "org_live_x", queue=QueueOptions(**options))
        self.addCleanup(client.close, 0)
        return client
