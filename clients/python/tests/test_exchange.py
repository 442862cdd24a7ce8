"""All of an answer, as `exchange` returns it."""

import unittest

from fake_service import FakeService

from weir import Client


class TestExchange(unittest.TestCase):
    def test_an_etag_that_was_weakened_on_its_way_is_taken_as_weir_wrote_it(self) -> None:
        service = FakeService()
        self.addCleanup(service.close)
        service.interfere = lambda events: (200, {"id": "c1"})
        with Client(service.url, "k") as client:
            for sent in ('"one"', 'W/"one"'):
                service.more_headers = {"etag": sent}
                read = client.exchange("POST", "/customers", {"name": "Ada"})
                self.assertEqual((read.etag, read.headers["etag"]), ('"one"', sent))
            service.more_headers = {}
            self.assertIsNone(client.exchange("POST", "/customers", {"name": "Ada"}).etag)
