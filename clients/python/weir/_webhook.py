from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from typing import Mapping, Optional, Sequence, Union, cast

from ._billing import Webhook
from ._errors import WeirError


def verify_webhook(
    body: Union[bytes, str],
    headers: Mapping[str, str],
    secrets: Union[str, Sequence[str]],
    *,
    tolerance: float = 300,
    now: Optional[float] = None,
) -> Webhook:
    """Return what came, when it is signed by one of the secrets of the endpoint (``whsec_…``) and not old.

    Its ``type`` says what ``data`` holds. A later Weir may send other types than :data:`Webhook` has: they are to be taken, and let be.
    Raises a :class:`WeirError` with the code ``webhook_not_verified`` else: answer 400 then. The body is what was received, to the
    byte, and no JSON that was written anew. ``tolerance``: how far the time in the headers may be from this machine's, in seconds.
    """
    given = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, at, signatures = (given[f"webhook-{part}"] for part in ("id", "timestamp", "signature"))
    except KeyError:
        raise _refuse("The headers webhook-id, webhook-timestamp and webhook-signature are not all there.") from None
    seconds = time.time() if now is None else now
    if re.fullmatch(r"[0-9]{1,15}", at) is None or not abs(seconds - int(at)) <= tolerance:
        raise _refuse(f"It was signed more than {tolerance:g} s before or after this machine's time.")
    content = body.encode() if isinstance(body, str) else body
    keys = [_key_of(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    if not keys:
        raise ValueError("verify_webhook needs the secret of the endpoint")
    signed = f"{message_id}.{at}.".encode() + content
    expected = [b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in keys]
    found = [signature.encode("utf-8", "replace") for signature in signatures.split(" ")]
    if not any(hmac.compare_digest(one, other) for one in found for other in expected):
        raise _refuse("No signature is by a secret of this endpoint over exactly these bytes.")
    event = json.loads(content)
    came = {"id": message_id, "type": event["type"], "timestamp": event["timestamp"], "data": event["data"]}
    return cast(Webhook, came)


def _key_of(secret: str) -> bytes:
    # Of 32 bytes: with a part of it, which an environment may give, anybody could sign.
    if re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", secret) is None:
        raise ValueError("the secret of a webhook endpoint is whsec_ and 44 characters")
    return base64.b64decode(secret[len("whsec_") :])


def _refuse(detail: str) -> WeirError:
    return WeirError(status=0, code="webhook_not_verified", detail=detail, transient=False)
