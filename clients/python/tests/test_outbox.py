import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from typing import Any, List, Optional
from unittest import mock

from fake_service import FakeService

from weir import Client, Event, QueueOptions, WeirError
from weir import _outbox_segment
from weir._event import Encoded, decode, key_and_encode
from weir._outbox import Outbox
from weir._warnings import Warnings


def made(key: str, note: str = "") -> Encoded:
    return key_and_encode(Event("m", "äöü", "0.10", idempotency_key=key, metadata={"note": note}))


def add(outbox: Outbox, event: Encoded) -> None:
    outbox.write(outbox.put(event))


class Told(Warnings):
    """Keeps what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: List[str] = []

    def warn(self, kind: str, level: int, message: str, error: Optional[BaseException] = None) -> None:
        self.messages.append(message)


def keys(events: List[Encoded]) -> List[str]:
    return [event.key for event in events]


class TestOutbox(unittest.TestCase):
    def setUp(self) -> None:
        self.base = tempfile.mkdtemp(prefix="weir-outbox-")
        self.addCleanup(shutil.rmtree, self.base, ignore_errors=True)
        self.warnings = Told()

    def open(self, bytes_max: int = 10**9) -> Outbox:
        outbox = Outbox(self.base, bytes_max, self.warnings)
        self.addCleanup(outbox.close)
        return outbox

    def files(self) -> List[str]:
        return [os.path.join(folder, file) for folder, _, files in os.walk(self.base) for file in files]

    def leave(self, lines: bytes, file: str = "00000001.ndjson", folder: str = "999999999-0-0123456789ab") -> None:
        """Files as a process left them that is gone: no process has that number."""
        os.makedirs(os.path.join(self.base, folder), exist_ok=True)
        with open(os.path.join(self.base, folder, file), "wb") as stream:
            stream.write(lines)

    def test_an_event_is_on_disk_is_taken_in_order_and_leaves_no_file(self) -> None:
        outbox = self.open()
        for each in (made("a"), made("b", "ü" * 200_000), made("c")):
            add(outbox, each)
        [file] = self.files()
        with open(file, "rb") as stream:
            self.assertEqual(stream.read().count(b"\n"), 3)
        events = outbox.take(1000, 10**9)
        self.assertEqual(keys(events), ["a", "b", "c"])
        self.assertEqual(events[0].line, made("a").line)
        self.assertFalse(outbox.is_empty)
        outbox.settle(events)
        self.assertTrue(outbox.is_empty)
        outbox.close()
        self.assertEqual(os.listdir(self.base), [])

    def test_an_event_of_a_newer_client_is_sent_as_it_stands(self) -> None:
        line = b'{"meter_token":"m","customer_external_id":"a","later":{"a":1},"idempotency_key":"n","quantity":1.50}'
        self.leave(line + b"\n")
        [event] = self.open().take(10, 10**9)
        self.assertEqual((event.key, event.line), ("n", line))
        self.assertEqual(decode(line), Event("m", "a", "1.50", idempotency_key="n"))
        self.assertEqual(self.warnings.messages, [])

    def test_what_cannot_be_taken_over_does_not_keep_a_service_from_its_start(self) -> None:
        with mock.patch("weir._outbox.take_over", side_effect=PermissionError("of another user")):
            outbox = self.open()
        self.assertIn("of another user", self.warnings.messages[0])
        add(outbox, made("a"))
        self.assertEqual(keys(outbox.take(10, 10**9)), ["a"])

    def test_what_is_not_settled_stays_for_the_next_one(self) -> None:
        first = self.open()
        add(first, made("a"))
        add(first, made("b"))
        first.give_back(first.take(1, 10**9))
        first.close()
        second = self.open()
        events = second.take(1000, 10**9)
        self.assertEqual([event.line for event in events], [made("a").line, made("b").line])
        second.settle(events)
        second.close()
        self.assertEqual(os.listdir(self.base), [])

    def test_torn_and_broken_lines_cost_no_other(self) -> None:
        deep = b'{"metadata":' + b"[" * 100_000 + b"\n"
        self.leave(made("a").line + b"\n\0\0\0\n" + deep + made("b").line + b"\n" + made("torn").line[:30])
        self.leave(made("c").line + b"\n" + made("no end of line").line, "00000002.ndjson")
        self.leave(b"", "00000003.ndjson")
        outbox = self.open()
        events = outbox.take(1000, 10**9)
        self.assertEqual(keys(events), ["a", "b", "c"])
        outbox.settle(events)
        self.assertEqual((outbox.take(1, 1), outbox.is_empty, outbox.size), ([], True, 0))
        self.assertEqual(len(self.warnings.messages), 2)

    def test_the_folder_of_a_process_that_lives_is_left_alone(self) -> None:
        add(self.open(), made("a"))
        self.leave(made("b").line + b"\n", folder=f"{os.getppid()}-0-0123456789ab")
        self.leave(b"x", "notes.txt", "mine")
        self.assertEqual(self.open().take(10, 10**9), [])
        self.assertEqual(len(self.files()), 3)

    def test_what_is_written_while_another_takes_its_file_is_written_again(self) -> None:
        outbox = self.open()
        add(outbox, made("a"))
        [file] = self.files()
        with tempfile.TemporaryDirectory() as elsewhere:
            os.rename(file, os.path.join(elsewhere, "taken"))
            add(outbox, made("b"))
            [now] = self.files()
            with open(now, "rb") as stream:
                self.assertEqual(stream.read(), made("b").line + b"\n")
            self.assertEqual(keys(outbox.take(10, 10**9)), ["b"])

    def test_it_is_full_at_so_many_bytes_and_has_room_again(self) -> None:
        outbox = self.open(1_200_000)
        count = 0
        while outbox.has_room(100_000):
            add(outbox, made(f"k{count}", "x" * 100_000))
            count += 1
        self.assertEqual(count, 11)
        outbox.settle(outbox.take(6, 10**9))
        self.assertTrue(outbox.has_room(100_000))
        self.assertEqual(keys(outbox.take(100, 10**9)), ["k6", "k7", "k8", "k9", "k10"])

    def test_what_is_read_while_its_full_file_is_closed_is_counted_once(self) -> None:
        outbox = self.open(400)
        retire = outbox._retire
        taken: List[Encoded] = []
        lasts: List[int] = []

        def read_before_it_is_closed(*active: Any) -> None:
            retire(*active)
            taken.extend(outbox.take(10, 10**9))
            lasts.append(outbox.last)

        with mock.patch.object(outbox, "_retire", read_before_it_is_closed):
            add(outbox, made("a", "x" * 100))
        add(outbox, made("later", "x" * 100))
        self.assertEqual((keys(taken), lasts, outbox.waiting), (["a"], [1], 1))
        outbox.settle(taken)
        self.assertEqual((outbox.is_settled_to(1), outbox.is_settled_to(2)), (True, False))
        [later] = outbox.take(10, 10**9)
        self.assertEqual((later.number, outbox.is_settled_to(1)), (2, True))

    def test_many_threads_share_writes_and_none_is_lost(self) -> None:
        outbox = self.open()

        def add_some(thread: int) -> None:
            for n in range(20):
                add(outbox, made(f"{thread}-{n}"))

        threads = [threading.Thread(target=add_some, args=(thread,)) for thread in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(keys(outbox.take(1000, 10**9)))), 160)

    def test_an_event_that_cannot_be_written_is_not_queued(self) -> None:
        outbox = self.open()
        shutil.rmtree(self.base)
        with open(self.base, "w"):
            pass
        self.addCleanup(os.unlink, self.base)
        with self.assertRaises(WeirError) as raised:
            add(outbox, made("a"))
        self.assertEqual((raised.exception.code, raised.exception.idempotency_keys), ("outbox_failed", ("a",)))
        self.assertTrue(outbox.is_empty)

    def test_a_file_that_cannot_be_read_now_holds_no_other_up_and_is_read_when_it_can_be(self) -> None:
        outbox = self.open()
        add(outbox, made("own"))
        [file] = self.files()
        elsewhere = os.path.join(self.base, "elsewhere")
        os.rename(file, elsewhere)
        # Whoever reads it fails, as a process does that has too many files open.
        os.mkdir(file)
        self.assertEqual(outbox.take(10, 10**9), [])
        self.leave(made("left").line + b"\n")
        self.assertTrue(outbox.look())
        self.assertEqual(keys(outbox.take(10, 10**9)), ["left"])
        self.assertIn("cannot be read now", self.warnings.messages[0])
        self.assertEqual((outbox.waiting, outbox.is_empty, outbox.is_settled_to(1)), (0, False, False))
        os.rmdir(file)
        os.rename(elsewhere, file)
        self.assertTrue(outbox.look())
        self.assertEqual(keys(outbox.take(10, 10**9)), ["own"])

    @unittest.skipIf(os.name == "nt", "Windows has no limit of the size of files")
    def test_a_full_disk_gets_no_file_with_each_event_that_it_refuses(self) -> None:
        import resource

        outbox = self.open()
        add(outbox, made("before"))
        before, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(self.files()[0]) + 10, hard))
        try:
            for n in range(20):
                with self.assertRaises(WeirError):
                    add(outbox, made(f"{n}", "x" * 1000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (before, hard))
        self.assertEqual(len(self.files()), 1)
        add(outbox, made("after"))
        self.assertEqual(keys(outbox.take(10, 10**9)), ["before", "after"])

    @unittest.skipIf(os.name == "nt", "Windows has no limit of open files")
    def test_a_process_with_too_many_files_open_keeps_no_file_and_no_folder_of_what_it_cannot_finish_opening(self) -> None:
        import resource

        outbox = self.open()
        before, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        for free in (0, 1):
            with self.subTest(free=free):
                lowest = os.dup(0)
                os.close(lowest)
                resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + free, hard))
                try:
                    for n in range(5):
                        with self.assertRaises(WeirError):
                            add(outbox, made(f"{n}"))
                finally:
                    resource.setrlimit(resource.RLIMIT_NOFILE, (before, hard))
                now = os.dup(0)
                os.close(now)
                self.assertEqual((now, self.files(), len(os.listdir(self.base))), (lowest, [], free))
        add(outbox, made("after"))
        self.assertEqual(keys(outbox.take(10, 10**9)), ["after"])

    def test_a_write_that_a_signal_ends_costs_no_event_that_is_written_later_or_by_others(self) -> None:
        class Signalled(BaseException):
            """As a handler of signals raises it, in the middle of anything: a time limit of a worker, or Ctrl-C."""

        for name in ("_sync", "_is_at"):
            with self.subTest(name):
                outbox = self.open()
                add(outbox, made("a"))
                other = outbox.put(made("other"))
                with mock.patch.object(_outbox_segment, name, side_effect=Signalled), self.assertRaises(Signalled):
                    add(outbox, made("interrupted"))
                outbox.write(other)
                add(outbox, made("later", "x" * 50))
                taken = outbox.take(10, 10**9)
                self.assertEqual({"a", "other", "later"} - set(keys(taken)), set())
                outbox.settle(taken)
                self.assertEqual((outbox.is_empty, outbox.is_settled_to(outbox.last)), (True, True))


class TestOutboxOfClient(unittest.TestCase):
    def test_a_killed_process_loses_nothing_and_a_wrong_key_throws_nothing_away(self) -> None:
        service = FakeService()
        self.addCleanup(service.close)
        service.interfere = lambda events: (401, {"code": "unauthenticated"})
        folder = tempfile.mkdtemp(prefix="weir-outbox-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        program = f"""
import os, signal
from weir import Client, Event, QueueOptions
client = Client({service.url!r}, "k", queue=QueueOptions(outbox={folder!r}, batch_events_max=3))
for n in range(10):
    client.queue(Event("m", "acme", n, idempotency_key=str(n)))
print("queued", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
        here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        ended = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": here}, timeout=20)
        self.assertEqual(ended.returncode, -signal.SIGKILL)
        self.assertEqual(service.accepted, [])

        service.interfere = lambda events: None
        client = Client(service.url, "k", queue=QueueOptions(outbox=folder))
        self.assertTrue(client.flush(10))
        self.assertTrue(client.close().is_done)
        self.assertEqual(sorted(service.accepted), [str(n) for n in range(10)])
        self.assertEqual(os.listdir(folder), [])

    def test_a_process_that_is_killed_while_it_is_told_of_a_refused_event_leaves_it_to_be_told_of_again(self) -> None:
        service = FakeService()
        self.addCleanup(service.close)
        refusal = {"status": 422, "code": "invalid_request", "detail": "no"}
        service.interfere = lambda events: (207, {"data": [refusal] * len(events)})
        folder = tempfile.mkdtemp(prefix="weir-outbox-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        program = f"""
import os, signal
from weir import Client, Event, QueueOptions
die = lambda error, event: os.kill(os.getpid(), signal.SIGKILL)
client = Client({service.url!r}, "k", queue=QueueOptions(outbox={folder!r}, outbox_bytes_max=400, on_refused=die))
for n in range(3):
    client.queue(Event("m", "acme", n, idempotency_key=str(n)))
client.close()
"""
        here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        ended = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": here}, timeout=20)
        self.assertEqual(ended.returncode, -signal.SIGKILL)

        told: List[Optional[str]] = []
        options = QueueOptions(outbox=folder, on_refused=lambda error, event: told.append(event.idempotency_key))
        self.assertTrue(Client(service.url, "k", queue=options).close().is_done)
        self.assertEqual(sorted(each or "" for each in told), ["0", "1", "2"])
        self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
