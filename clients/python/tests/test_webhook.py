import base64
import hashlib
import hmac
import json
import unittest
from typing import Dict

from weir import WeirError, verify_webhook

SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()
BEFORE = "whsec_" + base64.b64encode(b"b" * 32).decode()
NOW = 1_795_000_000
BODY = json.dumps({"type": "invoice.paid", "timestamp": "then", "data": {"sequence": 7, "note": "Zoë ✓"}}).encode()


def signed(*secrets: str, at: object = NOW) -> Dict[str, str]:
    def sign(secret: str) -> str:
        content = f"msg_1.{at}.".encode() + BODY
        return "v1," + base64.b64encode(hmac.new(base64.b64decode(secret[6:]), content, hashlib.sha256).digest()).decode()

    return {"Webhook-Id": "msg_1", "Webhook-Timestamp": str(at), "Webhook-Signature": " ".join(map(sign, secrets))}


class TestVerifyWebhook(unittest.TestCase):
    def refused(self, headers: Dict[str, str], body: bytes = BODY, secret: str = SECRET) -> None:
        with self.assertRaises(WeirError) as raised:
            verify_webhook(body, headers, secret, now=NOW)
        self.assertEqual(raised.exception.code, "webhook_not_verified")

    def test_returns_what_is_signed_with_its_id(self) -> None:
        for body in (BODY, BODY.decode()):
            event = verify_webhook(body, signed(SECRET), SECRET, now=NOW)
            self.assertEqual((event["id"], event["type"], event["data"]["sequence"]), ("msg_1", "invoice.paid", 7))

    def test_takes_either_secret_while_one_is_rotated(self) -> None:
        verify_webhook(BODY, signed(SECRET, BEFORE), BEFORE, now=NOW)
        verify_webhook(BODY, signed(SECRET), [BEFORE, SECRET], now=NOW)

    def test_refuses_another_byte_secret_id_or_form(self) -> None:
        good = signed(SECRET)
        self.refused(good, BODY + b" ")
        self.refused(good, secret=BEFORE)
        self.refused({**good, "Webhook-Id": "msg_2"})
        self.refused({**good, "Webhook-Signature": good["Webhook-Signature"].replace("v1,", "v1a,")})
        self.refused({**good, "Webhook-Signature": "v1,\u00e9"})
        self.refused({})

    def test_refuses_what_was_signed_long_ago_or_far_ahead(self) -> None:
        for seconds in (-300, 300):
            verify_webhook(BODY, signed(SECRET, at=NOW + seconds), SECRET, now=NOW)
        for at in (NOW - 301, NOW + 301, "", "NaN", "-1", f"{NOW}.5", "\u0661"):
            self.refused(signed(SECRET, at=at))

    def test_a_tolerance_that_is_no_number_tolerates_nothing(self) -> None:
        with self.assertRaises(WeirError):
            verify_webhook(BODY, signed(SECRET, at=NOW - 9999), SECRET, now=NOW, tolerance=float("nan"))

    def test_a_secret_that_is_none_is_a_mistake_of_the_program(self) -> None:
        for none in ("", "org_live_x", "whsec_", "whsec_A", SECRET[:-1], []):
            with self.assertRaises(ValueError):
                verify_webhook(BODY, signed(SECRET), none, now=NOW)
