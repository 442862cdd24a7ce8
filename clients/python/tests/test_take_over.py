"""Whose outbox is taken over by a process that runs, and whose is left alone."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from typing import Callable, List
from unittest import mock

from fake_service import FakeService
from test_outbox import Told, add, keys, made

from weir import Client, QueueOptions
from weir._outbox import Outbox
from weir._outbox_owner import _process_of, own_name

HOUR_AGO = time.time() - 3600
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def until(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 20
    while not is_so():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain until {what}")
        time.sleep(0.01)


def start_of(pid: int) -> str:
    found = _process_of(pid)
    assert found is not None
    return found.start


def program_of(pid: int) -> str:
    with open(f"/proc/{pid}/comm", encoding="ascii") as file:
        return file.read()


@unittest.skipIf(os.name == "nt", "Windows tells nothing of other processes")
class TestTakeOver(unittest.TestCase):
    def setUp(self) -> None:
        self.base = tempfile.mkdtemp(prefix="weir-outbox-")
        self.addCleanup(shutil.rmtree, self.base, ignore_errors=True)

    def open(self) -> Outbox:
        self.told = Told()
        outbox = Outbox(self.base, 10**9, self.told)
        self.addCleanup(outbox.close)
        return outbox

    def leave(self, folder: str) -> None:
        """A folder with one event, whose key is the name of the folder."""
        os.mkdir(os.path.join(self.base, folder))
        with open(os.path.join(self.base, folder, "00000001.ndjson"), "wb") as file:
            file.write(made(folder).line + b"\n")

    def age(self, folder: str) -> None:
        os.utime(os.path.join(self.base, folder), (HOUR_AGO, HOUR_AGO))

    def taken(self, outbox: Outbox) -> List[str]:
        outbox.look()
        return sorted(keys(outbox.take(1000, 10**9)))

    def test_what_is_left_later_is_found_and_read_before_what_is_still_written_to(self) -> None:
        outbox = self.open()
        self.assertFalse(outbox.look())
        add(outbox, made("own"))
        outbox.take(1, 10**9)
        add(outbox, made("own too"))
        self.leave("999999999-0-0123456789ab")
        self.assertTrue(outbox.look())
        self.assertEqual(keys(outbox.take(10, 10**9)), ["999999999-0-0123456789ab", "own too"])

    def test_a_process_whose_own_folder_was_removed_takes_over_what_others_leave(self) -> None:
        outbox = self.open()
        add(outbox, made("own"))
        outbox.settle(outbox.take(1, 10**9))
        [folder] = os.listdir(self.base)
        shutil.rmtree(os.path.join(self.base, folder))
        self.leave("999999999-0-0123456789ab")
        self.assertEqual(self.taken(outbox), ["999999999-0-0123456789ab"])

    def test_a_process_that_ended_and_that_its_parent_has_not_asked_about_is_gone(self) -> None:
        # The shell becomes another program, which knows nothing of the child that it has.
        command = ["sh", "-c", "sleep 60 & echo $!; exec sleep 60"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
            try:
                assert parent.stdout is not None
                zombie = int(parent.stdout.readline())
                until(lambda: program_of(parent.pid) == "sleep\n", "the shell has become another program")
                os.kill(zombie, signal.SIGKILL)
                until(lambda: getattr(_process_of(zombie), "is_zombie", False), "the child has ended")
                folder = f"{zombie}-{start_of(zombie)}-0123456789ab-{own_name()[1]}"
                self.leave(folder)
                self.assertEqual(self.taken(self.open()), [folder])
            finally:
                parent.kill()

    def test_a_process_that_lives_keeps_its_folder_and_its_number_alone_does_not_do_that(self) -> None:
        tail, parent = own_name()[1], os.getppid()
        living = [f"{parent}-{start_of(parent)}-000000000001-{tail}", f"{parent}-{start_of(parent)}-000000000002"]
        reused = f"{parent}-1-000000000003-{tail}"
        for folder in (*living, reused):
            self.leave(folder)
            self.age(folder)
        self.assertEqual(self.taken(self.open()), [reused])

    def test_a_process_that_cannot_be_seen_from_here_keeps_its_folder_while_it_is_touched(self) -> None:
        folders = [f"1-5-00000000000{n}-00000000" for n in (1, 2)]
        unknown = [f"{os.getppid()}-0-00000000000{n}" for n in (3, 4)]
        for folder in (*folders, *unknown):
            self.leave(folder)
        self.age(folders[1])
        self.age(unknown[1])
        self.assertEqual(self.taken(self.open()), sorted([folders[1], unknown[1]]))

    def test_the_folder_of_a_process_that_cannot_be_seen_and_whose_clock_was_ahead_is_not_waited_for_until_then(self) -> None:
        folder = "1-5-000000000001-00000000"
        self.leave(folder)
        ahead = time.time() + 3600
        os.utime(os.path.join(self.base, folder), (ahead, ahead))
        self.assertEqual(self.taken(self.open()), [folder])

    def test_it_touches_its_own_folder_and_makes_it_again_when_it_was_removed(self) -> None:
        outbox = self.open()
        add(outbox, made("a"))
        [folder] = os.listdir(self.base)
        self.age(folder)
        outbox.look()
        self.assertGreater(os.stat(os.path.join(self.base, folder)).st_mtime, time.time() - 60)
        shutil.rmtree(os.path.join(self.base, folder))
        add(outbox, made("b"))
        self.assertEqual(keys(outbox.take(10, 10**9)), ["b"])

    def test_a_folder_that_cannot_be_read_is_told_of_and_keeps_no_other_from_being_taken_over(self) -> None:
        with open(os.path.join(self.base, "999999999-0-000000000001"), "w"):
            pass
        outbox = self.open_after_failure()
        self.leave("999999999-0-000000000002")
        self.assertEqual(self.taken(outbox), ["999999999-0-000000000002"])
        self.assertIn("cannot be read", self.told.messages[0])

    def test_what_is_on_a_full_disk_is_sent_and_removed_although_there_is_no_room_for_a_folder_of_its_own(self) -> None:
        left = ["999999999-0-000000000001", "999999999-0-000000000002"]
        for folder in left:
            self.leave(folder)
        with open(os.path.join(self.base, left[0], "00000007.ndjson"), "wb") as file:
            file.write(made("seventh").line + b"\n")
        with mock.patch("os.mkdir", side_effect=OSError(errno.ENOSPC, "No space left on device")):
            outbox = self.open()
        events = outbox.take(10, 10**9)
        self.assertEqual(sorted(keys(events)), sorted([*left, "seventh"]))
        # What is written then is in no file that is still to be sent.
        add(outbox, made("own"))
        self.assertEqual(keys(outbox.take(10, 10**9)), ["own"])
        outbox.settle(events)
        outbox.close()
        [folder] = os.listdir(self.base)
        self.assertEqual(len(os.listdir(os.path.join(self.base, folder))), 1)
        self.assertEqual(self.told.messages, [])

    def open_after_failure(self) -> Outbox:
        with mock.patch("weir._outbox.take_over"):
            return self.open()


PROGRAM = """
import os, signal, sys
from weir import Client, Event, QueueOptions, _queue
_queue.LOOK_INTERVAL = 0.02
client = Client(sys.argv[1], "k", queue=QueueOptions(outbox=sys.argv[2], interval=3600))
"""


@unittest.skipIf(os.name == "nt", "Windows has no SIGKILL and no fork")
class TestSiblings(unittest.TestCase):
    def setUp(self) -> None:
        self.service = FakeService()
        self.addCleanup(self.service.close)
        self.base = tempfile.mkdtemp(prefix="weir-outbox-")
        self.addCleanup(shutil.rmtree, self.base, ignore_errors=True)

    def run_program(self, code: str) -> "subprocess.Popen[bytes]":
        arguments = [sys.executable, "-W", "error", "-c", PROGRAM + code, self.service.url, self.base]
        return subprocess.Popen(arguments, env={**os.environ, "PYTHONPATH": HERE}, stdout=subprocess.PIPE)

    def test_what_a_killed_process_had_on_disk_is_sent_by_others_that_run_once_each(self) -> None:
        often = mock.patch("weir._queue.LOOK_INTERVAL", 0.02)
        often.start()
        self.addCleanup(often.stop)
        running = [Client(self.service.url, "k", queue=QueueOptions(outbox=self.base)) for _ in range(3)]
        for client in running:
            self.addCleanup(client.close, 0)
        code = """
for n in range(50):
    client.queue(Event("m", "acme", 1, idempotency_key=f"k{n}"))
os.kill(os.getpid(), signal.SIGKILL)
"""
        with self.run_program(code) as process:
            self.assertEqual(process.wait(20), -signal.SIGKILL)
        until(lambda: len(self.service.accepted) == 50, "the others have sent it")
        for client in running:
            self.assertTrue(client.close().is_done)
        self.assertEqual(len([key for request in self.service.keys() for key in request]), 50)
        self.assertEqual(os.listdir(self.base), [])

    def test_what_a_killed_child_of_a_fork_had_is_sent_by_its_sibling_which_has_queued_nothing(self) -> None:
        code = """
import threading
assert threading.active_count() == 2, threading.enumerate()
killed = os.fork()
if killed == 0:
    client.queue(Event("m", "acme", 1, idempotency_key="of the killed"))
    os.kill(os.getpid(), signal.SIGKILL)
assert threading.active_count() == 1, threading.enumerate()
reads, writes = os.pipe()
if os.fork() == 0:
    os.close(writes)
    # Ends with the parent.
    os.read(reads, 1)
    os._exit(0)
# Nobody asks what became of the killed: it stays a zombie.
signal.pause()
"""
        with self.run_program(code) as process:
            try:
                until(lambda: self.service.accepted == ["of the killed"], "the sibling has sent it")
            finally:
                process.kill()
        self.assertEqual(self.service.accepted, ["of the killed"])


if __name__ == "__main__":
    unittest.main()
