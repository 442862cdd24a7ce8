"""The queue in asyncio: whatever it waits for, the loop goes on."""

import asyncio
import shutil
import tempfile
import threading
import unittest
from typing import Any, List
from unittest import mock

from fake_service import FakeService

from weir import Client, Event, QueueOptions, WeirError
from weir._outbox import Outbox


def event(n: int) -> Event:
    return Event("m", "acme", 1, idempotency_key=f"k{n}")


class TestAsync(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.service = FakeService()
        self.addCleanup(self.service.close)
        self.release = threading.Event()
        self.addCleanup(self.release.set)

    def client(self, **options: Any) -> Client:
        client = Client(self.service.url, "k", queue=QueueOptions(**options))
        self.addCleanup(client.close, 0)
        return client

    def hold(self) -> None:
        """The service answers nothing until it is released."""
        self.service.interfere = lambda events: self.release.wait(20) and None

    async def test_a_full_queue_holds_the_caller_back_while_the_loop_goes_on(self) -> None:
        self.hold()
        client = self.client(events_max=2, batch_events_max=1)
        calls = [asyncio.ensure_future(client.queue_async(event(n))) for n in range(50)]
        turns = 0
        while len([call for call in calls if call.done()]) < 2 or turns < 100:
            turns += 1
            await asyncio.sleep(0)
        self.assertEqual([call.result() for call in calls if call.done()], ["k0", "k1"])
        self.release.set()
        self.assertEqual(await asyncio.gather(*calls), [f"k{n}" for n in range(50)])
        self.assertTrue(await asyncio.to_thread(client.flush, 20))
        self.assertEqual(len(set(self.service.accepted)), 50)

    async def test_those_who_wait_for_room_do_not_wake_each_other(self) -> None:
        self.hold()
        client = self.client(events_max=1, batch_events_max=1)
        await client.queue_async(event(0))
        calls = [asyncio.ensure_future(client.queue_async(event(n))) for n in range(1, 20)]
        await asyncio.sleep(0)
        store = client._queue._store  # type: ignore[union-attr]
        with mock.patch.object(store, "has_room", wraps=store.has_room) as asked:
            for _ in range(1000):
                await asyncio.sleep(0)
            self.assertLess(asked.call_count, 20 * 5)
        self.release.set()
        await asyncio.gather(*calls)

    async def test_a_wait_ends_by_its_timeout_by_being_cancelled_and_by_closing_and_has_queued_nothing(self) -> None:
        self.hold()
        client = self.client(events_max=1)
        await client.queue_async(event(0))
        with self.assertRaises(WeirError) as raised:
            await client.queue_async(event(1), timeout=0.05)
        self.assertEqual((raised.exception.code, raised.exception.idempotency_keys), ("queue_full", ("k1",)))
        cancelled = asyncio.ensure_future(client.queue_async(event(2)))
        await asyncio.sleep(0)
        cancelled.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await cancelled
        waiting = asyncio.ensure_future(client.queue_async(event(3)))
        await asyncio.sleep(0)
        result = await asyncio.to_thread(client.close, 0.05)
        with self.assertRaises(WeirError) as raised:
            await waiting
        self.assertEqual(raised.exception.code, "queue_closed")
        self.assertEqual([each.idempotency_key for each in result.unsent], ["k0"])

        client = self.client(events_max=1, when_full="raise")
        await client.queue_async(event(0))
        with self.assertRaises(WeirError) as raised:
            await client.queue_async(event(1))
        self.assertEqual(raised.exception.code, "queue_full")

    async def test_the_disk_is_awaited_and_many_share_a_write(self) -> None:
        folder = tempfile.mkdtemp(prefix="weir-outbox-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        client = self.client(outbox=folder, interval=3600)
        writes: List[int] = []
        is_writing = threading.Event()
        write = Outbox._write

        def slow(outbox: Outbox, text: bytes, events: int) -> Any:
            writes.append(text.count(b"\n"))
            is_writing.set()
            self.release.wait(20)
            return write(outbox, text, events)

        with mock.patch.object(Outbox, "_write", slow):
            calls = [asyncio.ensure_future(client.queue_async(event(n))) for n in range(200)]
            self.assertTrue(await asyncio.to_thread(is_writing.wait, 20))
            for _ in range(100):
                await asyncio.sleep(0)
            self.assertFalse(any(call.done() for call in calls))
            self.release.set()
            self.assertEqual(len(set(await asyncio.gather(*calls))), 200)
        self.assertEqual(sum(writes), 200)
        self.assertLessEqual(len(writes), 3)
        self.assertTrue((await asyncio.to_thread(client.close)).is_done)
        self.assertEqual(len(self.service.accepted), 200)

    async def test_who_waits_for_room_behind_an_event_that_cannot_be_written_gets_it_all_the_same(self) -> None:
        folder = tempfile.mkdtemp(prefix="weir-outbox-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        client = self.client(outbox=folder, outbox_bytes_max=1)
        is_writing = threading.Event()

        def fail(outbox: Outbox, text: bytes, events: int) -> Any:
            is_writing.set()
            self.release.wait(20)
            raise OSError("the disk is full")

        with mock.patch.object(Outbox, "_write", fail):
            calls = [asyncio.ensure_future(client.queue_async(event(n))) for n in range(2)]
            self.assertTrue(await asyncio.to_thread(is_writing.wait, 20))
            self.release.set()
            for call in calls:
                with self.assertRaises(WeirError) as raised:
                    await asyncio.wait_for(call, 10)
                self.assertEqual(raised.exception.code, "outbox_failed")

    async def test_what_waits_for_the_disk_is_written_though_its_call_is_cancelled(self) -> None:
        folder = tempfile.mkdtemp(prefix="weir-outbox-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        client = self.client(outbox=folder, interval=3600)
        is_writing = threading.Event()
        write = Outbox._write

        def slow(outbox: Outbox, text: bytes, events: int) -> Any:
            is_writing.set()
            self.release.wait(20)
            return write(outbox, text, events)

        with mock.patch.object(Outbox, "_write", slow):
            first = asyncio.ensure_future(client.queue_async(event(0)))
            self.assertTrue(await asyncio.to_thread(is_writing.wait, 20))
            second = asyncio.ensure_future(client.queue_async(event(1)))
            store = client._queue._store  # type: ignore[union-attr]
            while store.last < 2:
                await asyncio.sleep(0)
            second.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await second
            self.release.set()
            await first
            self.assertTrue(await asyncio.to_thread(client.flush, 10))
        self.assertTrue((await asyncio.to_thread(client.close, 10)).is_done)
        self.assertEqual(sorted(self.service.accepted), ["k0", "k1"])

    async def test_an_event_that_the_disk_refuses_is_not_queued(self) -> None:
        folder = tempfile.mkdtemp(prefix="weir-outbox-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        client = self.client(outbox=folder)
        with mock.patch.object(Outbox, "_write", side_effect=OSError("no space left")):
            with self.assertRaises(WeirError) as raised:
                await client.queue_async(event(0))
        self.assertEqual((raised.exception.code, raised.exception.idempotency_keys), ("outbox_failed", ("k0",)))


if __name__ == "__main__":
    unittest.main()
