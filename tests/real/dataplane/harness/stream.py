"""stream.py CLUSTER HOST RATE: requests from the ready client pods of a cluster until SIGTERM. Prints every second, and at the end, what became of them."""
import json
import signal
import sys
import threading

import testbed
import traffic

cluster, host, rate = sys.argv[1:]
ending = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: ending.set())
stream = traffic.Stream(testbed.clusters(), cluster, host, rate=float(rate)).start()
while not ending.wait(1):
    print(json.dumps(stream.snapshot()), flush=True)
print(json.dumps(stream.stop()), flush=True)
