"""What every test may count on: one thread, and a Ctrl-C that is heard."""

import os
import signal

# Before torch is imported; what a test starts inherits it. On a busy machine more threads than one
# wait for each other, and a sum in another order has other last digits.
os.environ["OMP_NUM_THREADS"] = "1"

# A shell starts `make test &` with SIGINT ignored, and what ignores it hands that on to every
# process it starts; a handler of Python's own becomes the default again in a new process.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
