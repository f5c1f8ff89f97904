"""Holds a program to so many threads at a time.

The kernel does it by itself where a zygote has a user namespace of its own: RLIMIT_NPROC counts by user and namespace,
and holds for everybody but root. Elsewhere each thread that a program starts is asked for: seccomp stops it in the
kernel until the zygote, which counts, has let it in or turned it away.
"""

import errno
import fcntl
import struct

from meter import Meter

THREADS_MAX = 64

# Of linux/seccomp.h: what is asked (its id, the thread, and the call with its arguments), and the answer to it.
RECEIVE = 0xC0502100
SEND = 0xC0182101
QUESTION_BYTES = 80
ID = struct.Struct("=Q")
ANSWER = struct.Struct("=QqiI")
CONTINUE = 1


class Doorman:
    """Of a zygote, for one program after the other."""

    def __init__(self, listener: int = -1) -> None:
        # Where programs ask; -1: the kernel itself holds them to the limit.
        self.listener = listener

    @property
    def is_kernel(self) -> bool:
        """Whether the kernel does it by itself."""
        return self.listener < 0

    def answer(self, meter: Meter) -> None:
        """Lets one thread of a program in, or turns it away. What cannot be counted is turned away."""
        question = bytearray(QUESTION_BYTES)
        try:
            fcntl.ioctl(self.listener, RECEIVE, question)
            (number,) = ID.unpack_from(question)
            threads = meter.threads()
            if threads is not None and threads < THREADS_MAX:
                answer = ANSWER.pack(number, 0, 0, CONTINUE)
            else:
                answer = ANSWER.pack(number, 0, -errno.EAGAIN, 0)
            fcntl.ioctl(self.listener, SEND, answer)
        except OSError as error:
            # Who asked has ended meanwhile.
            if error.errno != errno.ENOENT:
                raise
