"""One attempt of one request: within a time limit as a whole, over a kept connection, and never after a redirect."""

from __future__ import annotations

import http.client
import io
import re
import socket
import ssl
import threading
import time
from contextlib import contextmanager
from typing import Any, Iterator, List, Mapping, Optional, Sequence, Set
from urllib.parse import urlsplit

from ._answer import Answer, read_answer
from ._errors import WeirError
from ._numbers import read_seconds

_IDLE_MAX = 16


class _TimedSocket:
    """A socket whose operations all end at one deadline. A time-out of a socket is for each read, and would let it drip for ever."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock = sock
        self._readers = 0
        self._is_closed = False
        self.deadline = deadline

    def _arm(self) -> socket.socket:
        self._sock.settimeout(time_left(self.deadline))
        return self._sock

    def sendall(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self._arm().send(view) :]

    def is_open(self) -> bool:
        """Between two answers: all that the service says then is that it hangs up."""
        try:
            self._sock.settimeout(0)
            # Not the method of an SSLSocket, which cannot look without taking.
            socket.socket.recv(self._sock, 1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def recv_into(self, buffer: Any) -> int:
        return self._arm().recv_into(buffer)

    def makefile(self, mode: str, buffering: int = -1) -> io.BufferedReader:
        self._readers += 1
        return io.BufferedReader(_Reader(self))

    def shutdown(self) -> None:
        shut_down(self._sock)

    def close(self) -> None:
        # An answer that ends with its connection is read after http.client has closed this.
        self._is_closed = True
        if self._readers == 0:
            self._sock.close()

    def leave(self) -> None:
        self._readers -= 1
        if self._is_closed:
            self.close()


class _Reader(io.RawIOBase):
    def __init__(self, sock: _TimedSocket) -> None:
        self._timed = sock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._timed.recv_into(buffer)

    def close(self) -> None:
        if not self.closed:
            self._timed.leave()
        super().close()


class Transport:
    def __init__(self, base_url: str, api_key: Optional[str], timeout: float, service_token: Optional[str] = None) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{_BASE_URL}, not {base_url!r}")
        if parts.username or parts.password or parts.query or parts.fragment:
            # Not told as it is: a password would be in a log.
            raise ValueError(f"{_BASE_URL}, without a user, a password, a query or a fragment")
        if service_token is not None:
            _require(service_token, "service_token must be the token of a service account, such as org_svc_…")
        if api_key is not None or service_token is None:
            _require(api_key, _API_KEY)
        self._base_url = base_url.rstrip("/")
        self._host = parts.hostname
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._path = parts.path.rstrip("/")
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._api_key = api_key
        self._service_token = service_token
        self._timeout = read_seconds("timeout", timeout, may_be_zero=False)
        self.reset()

    def reset(self) -> None:
        """Forgets all connections: in the child of a fork they belong to the parent."""
        self._lock = threading.Lock()
        self._idle: List[http.client.HTTPConnection] = []
        self._busy: Set[http.client.HTTPConnection] = set()
        #: Those of connections that are being made.
        self._connecting: Set[socket.socket] = set()
        #: The threads that look up the address of the host.
        self._looking_up: Set[int] = set()
        self._is_aborted = False

    def send(
        self,
        method: str,
        path: str,
        body: Optional[bytes] = None,
        *,
        by_key: bool = False,
        idempotency_keys: Sequence[str] = (),
        request_key: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
        timeout: Optional[float] = None,
    ) -> Answer:
        """Makes one attempt. Returns any answer; raises a WeirError of status 0 when none comes.

        ``request_key`` makes a write that is no event safe to send again; it is the same at each attempt. ``by_key``: only an API
        key opens it; else a service token goes first. ``headers`` are sent beside those of the client.
        """
        sent = {**(headers or {}), "accept": "application/json", **self._credential(by_key)}
        if body is not None:
            sent["content-type"] = "application/json"
        if request_key is not None:
            sent["idempotency-key"] = request_key
        limit = self._timeout if timeout is None else read_seconds("timeout", timeout, may_be_zero=False)
        deadline = time.monotonic() + limit
        try:
            return self._send(method, path, body, sent, deadline)
        except (OSError, http.client.HTTPException) as error:
            late = isinstance(error, (TimeoutError, socket.timeout))
            raise WeirError(
                status=0,
                code="timeout" if late else "network_error",
                detail=f"No answer within {limit:g} s" if late else f"Cannot reach {self._base_url}: {error or type(error).__name__}",
                idempotency_keys=idempotency_keys,
            ) from error

    def require_api_key(self) -> str:
        """Raises a ValueError where there is no API key, which alone opens tracking."""
        return _require(self._api_key, _API_KEY)

    def _credential(self, by_key: bool) -> Mapping[str, str]:
        if self._service_token is not None and not by_key:
            return {"authorization": f"Bearer {self._service_token}"}
        return {"x-api-key": self.require_api_key()}

    def abort(self) -> Set[int]:
        """Ends what is under way, and whatever is begun later, at once. Returns the threads that look up the address of the host: nothing
        ends that, and they send nothing afterwards.
        """
        with self._lock:
            self._is_aborted = True
            for sock in self._connecting:
                shut_down(sock)
            for connection in self._busy:
                if connection.sock is not None:
                    connection.sock.shutdown()  # type: ignore[call-arg]
            return set(self._looking_up)

    def close(self) -> None:
        """Closes the connections that nobody uses."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _send(self, method: str, path: str, body: Optional[bytes], headers: Mapping[str, str], deadline: float) -> Answer:
        connection = self._kept()
        if connection is None:
            connection = self._connect(deadline)
        else:
            connection.sock.deadline = deadline  # type: ignore[union-attr]
        # Where it breaks meanwhile, nobody knows whether the service has read the request: that is for the caller to hear.
        return self._exchange(connection, method, path, body, headers)

    def _kept(self) -> Optional[http.client.HTTPConnection]:
        """A connection that nobody uses, and that the service has not closed."""
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None or connection.sock.is_open():  # type: ignore[union-attr]
                return connection
            connection.close()

    def _connect(self, deadline: float) -> http.client.HTTPConnection:
        began = time.monotonic()
        addresses = self._look_up()
        # Nothing ends a look-up, so it is no part of the attempt.
        deadline += time.monotonic() - began
        sock = self._reach(addresses, deadline)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                sock = self._tls.wrap_socket(sock, server_hostname=self._host, do_handshake_on_connect=False)
                with self._abortable(sock):
                    sock.settimeout(time_left(deadline))
                    sock.do_handshake()
        except BaseException:
            sock.close()
            raise
        connection = http.client.HTTPConnection(self._host, self._port)
        connection.default_port = 443 if self._tls is not None else 80
        connection.auto_open = 0
        connection.sock = _TimedSocket(sock, deadline)
        return connection

    def _look_up(self) -> Sequence[Any]:
        thread = threading.get_ident()
        with self._lock:
            self._refuse_if_aborted()
            self._looking_up.add(thread)
        try:
            return socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        finally:
            with self._lock:
                self._looking_up.discard(thread)

    def _reach(self, addresses: Sequence[Any], deadline: float) -> socket.socket:
        """Connects to the first address that answers. Each has a share of the time: one that does not answer leaves some to the others."""
        failure = OSError(f"{self._host} has no address")
        for index, (family, kind, protocol, _, address) in enumerate(addresses):
            try:
                sock = socket.socket(family, kind, protocol)
                with self._abortable(sock):
                    sock.settimeout(time_left(deadline) / (len(addresses) - index))
                    sock.connect(address)
                return sock
            except OSError as error:
                failure = error
        raise failure

    @contextmanager
    def _abortable(self, sock: socket.socket) -> Iterator[None]:
        """What is done with the socket meanwhile is ended by ``abort``. Where it fails, the socket is closed."""
        try:
            with self._lock:
                self._refuse_if_aborted()
                self._connecting.add(sock)
            try:
                yield
            finally:
                with self._lock:
                    self._connecting.discard(sock)
        except BaseException:
            sock.close()
            raise

    def _refuse_if_aborted(self) -> None:
        if self._is_aborted:
            raise ConnectionAbortedError("the client was closed")

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: Optional[bytes],
        headers: Mapping[str, str],
    ) -> Answer:
        with self._lock:
            self._busy.add(connection)
        is_whole = False
        try:
            self._refuse_if_aborted()
            connection.request(method, f"{self._path}/api/v1{path}", body=body, headers=dict(headers))
            response = connection.getresponse()
            answer = read_answer(response.status, response.read(), {k.lower(): v for k, v in response.getheaders()})
            is_whole = not response.will_close
            return answer
        finally:
            with self._lock:
                self._busy.discard(connection)
                keeps = is_whole and len(self._idle) < _IDLE_MAX
                if keeps:
                    self._idle.append(connection)
            if not keeps:
                connection.close()


_BASE_URL = "base_url must be the address of Weir, such as https://usage.example.com"
_API_KEY = "api_key must be an API key of your organization, such as org_live_…"


def _require(given: Optional[str], what: str) -> str:
    if given and re.fullmatch(r"[\x21-\x7e]+", given):
        return given
    why = "it holds a space, a line break or another character that no key has" if given else "there is none"
    raise ValueError(f"{what}: {why}")


def shut_down(sock: socket.socket) -> None:
    try:
        # Not the method of an SSLSocket, which takes from whoever reads what it reads by.
        socket.socket.shutdown(sock, socket.SHUT_RDWR)
    except OSError:
        # It was closed already, or is not connected.
        pass


def time_left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the time is up")
    return left
