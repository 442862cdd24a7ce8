"""A service that reports usage with the Python client; the same as produce-main.ts."""

import logging
import os
import sys
import threading
import time

from weir import Client, Event, QueueOptions

env = os.environ
TICK = 0.02

client = Client(
    env["WEIR_URL"],
    env["WEIR_API_KEY"],
    timeout=1.0,
    queue=QueueOptions(
        # Small ones, so that many are under way when something fails.
        batch_events_max=20,
        interval=0.05,
        concurrency=4,
        events_max=2000,
        outbox=env.get("OUTBOX"),
        exit_timeout=60.0,
        on_refused=lambda error, event: print(f"refused {(event.metadata or {})['mark']} {error}", flush=True),
    ),
)

# An outage is what is made here.
logging.getLogger("weir").addFilter(lambda record: not record.getMessage().startswith("What is queued waits"))
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
number = 0
while not over.wait(TICK):
    began = time.monotonic()
    for _ in range(int(float(env["RATE"]) * TICK)):
        mark = f"{env['CUSTOMER']}/{env['LIFE']}/{number}"
        client.queue(Event(env["METER_TOKEN"], env["CUSTOMER"], 1, metadata={"mark": mark}))
        print(f"queued {mark}", flush=True)
        number += 1
        # A disk that is slow to sync sets the pace.
        if time.monotonic() - began > TICK:
            break
# In memory the end of the process sends what is left, on its own.
if "OUTBOX" in env:
    client.close(60.0)
