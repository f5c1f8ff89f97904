"""Limits the number of threads that a program has at a time.

The kernel enforces the limit itself if the zygote has a user namespace of its own: RLIMIT_NPROC counts by user and
namespace, and holds for everybody but root. Otherwise seccomp stops each new thread in the kernel until the zygote has
counted the threads and allowed or refused it.
"""

import errno
import fcntl
import struct

from meter import Meter

THREADS_MAX = 64

# Numbers of linux/seccomp.h: receive a request (its id, the thread, and the call with its arguments), and send the
# answer.
RECEIVE = 0xC0502100
SEND = 0xC0182101
QUESTION_BYTES = 80
ID = struct.Struct("=Q")
ANSWER = struct.Struct("=QqiI")
CONTINUE = 1


class Doorman:
    """Allows or refuses new threads, for one program of a zygote after the other."""

    def __init__(self, listener: int = -1) -> None:
        # Descriptor of the programs' requests; -1 if the kernel itself enforces the limit.
        self.listener = listener

    @property
    def is_kernel(self) -> bool:
        """Returns whether the kernel enforces the limit itself."""
        return self.listener < 0

    def answer(self, meter: Meter) -> None:
        """Allows one new thread of a program or refuses it. Refuses if the threads cannot be counted."""
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
            # The thread that asked has ended meanwhile.
            if error.errno != errno.ENOENT:
                raise
