"""Files of an outbox of which little is not settled: that little is moved, and takes the room that it needs and no more."""

import os
import shutil
import tempfile
import unittest
from contextlib import ExitStack
from typing import Any, Callable, List
from unittest import mock

from fake_service import WithService, event
from test_outbox import Told, add, keys
from test_take_over import until

from weir import Client, Event, QueueOptions
from weir import _outbox_segment
from weir._event import Encoded, key_and_encode
from weir._outbox import Outbox

_BYTES_MAX = 80_000


def files(folder: str) -> List[str]:
    return sorted(os.path.join(each, file) for each, _, found in os.walk(folder) for file in found)


def bytes_in(folder: str) -> int:
    return sum(os.path.getsize(file) for file in files(folder))


class TestCompaction(unittest.TestCase):
    def setUp(self) -> None:
        self.base = tempfile.mkdtemp(prefix="weir-outbox-")
        self.addCleanup(shutil.rmtree, self.base, ignore_errors=True)
        self.warnings = Told()

    def open(self, folder: str = "") -> Outbox:
        outbox = Outbox(folder or self.base, _BYTES_MAX, self.warnings)
        self.addCleanup(outbox.close)
        return outbox

    def read(self, outbox: Outbox) -> List[Encoded]:
        for n in range(1, 31):
            add(outbox, key_and_encode(Event("m", "acme", 1, idempotency_key=f"k{n}", metadata={"note": "x" * 1900})))
        events = outbox.take(1000, 10**9)
        # The ends of the files are found.
        outbox.take(1, 1)
        return events

    def fill(self, outbox: Outbox) -> List[Encoded]:
        """Three files of ten events, of each of which all but the first is settled: it returns those three."""
        events = self.read(outbox)
        outbox.settle([each for index, each in enumerate(events) if index % 10 > 0])
        return [each for index, each in enumerate(events) if index % 10 == 0]

    def watch(self, see: Callable[[str], Any]) -> ExitStack:
        """Calls ``see`` before each step that the outbox makes on the disk."""
        stack = ExitStack()
        for owner, name in (
            (_outbox_segment.os, "open"),
            (_outbox_segment.os, "write"),
            (_outbox_segment.os, "unlink"),
            (_outbox_segment, "_sync"),
            (_outbox_segment, "sync_folder"),
        ):

            def step(*given: Any, name: str = name, go_on: Callable[..., Any] = getattr(owner, name)) -> Any:
                see(name)
                return go_on(*given)

            stack.enter_context(mock.patch.object(owner, name, step))
        return stack

    def test_what_is_not_settled_is_moved_to_one_file_and_leaves_none_when_it_is_settled(self) -> None:
        outbox = self.open()
        first, second, third = self.fill(outbox)
        add(outbox, key_and_encode(event(99)))
        outbox.give_back([third], behind=True)
        before = outbox.size
        outbox.compact()
        self.assertEqual(len(files(self.base)), 2)
        self.assertEqual(outbox.size, bytes_in(self.base))
        self.assertLess(outbox.size, before / 5)
        self.assertFalse(outbox.is_settled_to(1))
        later = outbox.take(10, 10**9)
        self.assertEqual(keys(later), ["k21", "k99"])
        outbox.settle([first, second, *later])
        outbox.close()
        self.assertEqual((outbox.is_empty, outbox.size, files(self.base)), (True, 0, []))
        self.assertEqual(self.warnings.messages, [])

    def test_files_of_which_as_much_is_not_settled_or_that_are_little_together_are_left_as_they_are(self) -> None:
        outbox = self.open()
        events = self.read(outbox)
        # Of the first little is left, and of the others most.
        outbox.settle([each for index, each in enumerate(events) if 0 < index < 10 or index % 10 > 5])
        before = files(self.base)
        outbox.compact()
        self.assertEqual(files(self.base), before)

    def test_what_is_settled_while_it_is_moved_is_not_held_any_more(self) -> None:
        outbox = self.open()
        first, second, third = self.fill(outbox)
        with self.watch(lambda step: outbox.settle([first, second]) if step == "_sync" else None):
            outbox.compact()
        self.assertEqual(len(files(self.base)), 1)
        self.assertEqual(outbox.size, bytes_in(self.base))
        outbox.settle([third])
        self.assertEqual((outbox.is_empty, outbox.size, files(self.base)), (True, 0, []))

    def test_a_process_that_is_killed_at_any_step_of_that_loses_nothing(self) -> None:
        outbox = self.open()
        left = set(keys(self.fill(outbox)))
        copies = tempfile.mkdtemp(prefix="weir-outbox-")
        self.addCleanup(shutil.rmtree, copies)
        steps: List[str] = []
        is_copying = False

        def see(step: str) -> None:
            nonlocal is_copying
            # What copies the files makes steps, too.
            if is_copying:
                return
            steps.append(step)
            is_copying = True
            [folder] = os.listdir(self.base)
            # As the folder of a process that is gone.
            to = os.path.join(copies, f"{len(steps)}", "999999999-0-0123456789ab")
            shutil.copytree(os.path.join(self.base, folder), to)
            is_copying = False

        with self.watch(see):
            outbox.compact()
        # The name of the file is on disk, too, before the first one goes.
        self.assertLessEqual({"open", "write", "_sync", "sync_folder"}, set(steps[: steps.index("unlink")]))
        self.assertEqual(steps.count("unlink"), 3)
        for number, step in enumerate(steps, 1):
            with self.subTest(before=step):
                taken = self.open(os.path.join(copies, f"{number}")).take(1000, 10**9)
                self.assertEqual(left - set(keys(taken)), set())

    def test_where_another_process_takes_the_new_file_before_it_is_whole_the_old_ones_stay(self) -> None:
        outbox = self.open()
        left = self.fill(outbox)
        before = files(self.base)
        with tempfile.TemporaryDirectory() as elsewhere:

            def see(step: str) -> None:
                if step == "_sync":
                    [file] = set(files(self.base)) - set(before)
                    os.rename(file, os.path.join(elsewhere, "taken"))

            with self.watch(see):
                outbox.compact()
        self.assertEqual(files(self.base), before)
        outbox.compact()
        self.assertEqual(len(files(self.base)), 1)
        outbox.settle(left)
        self.assertTrue(outbox.is_empty)

    def test_on_a_disk_that_is_full_the_old_files_stay_no_other_does_and_it_is_told(self) -> None:
        outbox = self.open()
        left = self.fill(outbox)
        before = files(self.base)
        with mock.patch.object(_outbox_segment, "_sync", side_effect=OSError(28, "No space left on device")):
            outbox.compact()
        self.assertEqual(files(self.base), before)
        self.assertIn("No space left", self.warnings.messages[0])
        outbox.settle(left)
        self.assertEqual((outbox.size, files(self.base)), (0, []))


class TestCompactionOfClient(WithService):
    def test_a_few_events_that_a_firewall_refuses_do_not_fill_an_outbox_and_those_to_come_are_sent(self) -> None:
        folder = tempfile.mkdtemp(prefix="weir-outbox-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        refused = (403, "<html>403</html>")
        self.service.interfere = lambda events: refused if any(each["quantity"] % 50 == 0 for each in events) else None
        options = QueueOptions(outbox=folder, outbox_bytes_max=2 * 1024 * 1024, interval=0.0)
        with self.assertLogs("weir"):
            client = Client(self.service.url, "k", queue=options)
            self.addCleanup(client.close, 0)
            # More than twice of what it holds.
            for n in range(1, 501):
                each = Event("m", "acme", n, idempotency_key=f"k{n}", metadata={"note": "x" * 10_000})
                client.queue(each, timeout=60)
            until(lambda: len(self.service.accepted) == 490, "all others are sent")
            self.assertFalse(client.close().is_done)
        self.assertLess(bytes_in(folder), 1.25 * 1024 * 1024)

        self.service.interfere = lambda events: None
        self.assertTrue(Client(self.service.url, "k", queue=options).close().is_done)
        self.assertEqual(len(self.service.accepted), 500)


if __name__ == "__main__":
    unittest.main()
