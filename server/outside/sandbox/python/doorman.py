"""Limits the number of threads that a program may have at the same time.

The kernel enforces the limit (RLIMIT_NPROC) if the sandbox has a user namespace of its own and is not root, because it
counts threads by user and namespace. Otherwise seccomp pauses each new thread until this process has counted the
threads and allowed or refused it.
"""

import errno
import fcntl
import struct

from meter import Meter

THREADS_MAX = 64

# Numbers of ioctl calls from linux/seccomp.h: RECEIVE reads a paused system call (its id, thread and arguments), and
# SEND answers it.
RECEIVE = 0xC0502100
SEND = 0xC0182101
QUESTION_BYTES = 80
ID = struct.Struct("=Q")
ANSWER = struct.Struct("=QqiI")
CONTINUE = 1


class Doorman:
    """Allows or refuses the new threads of programs. Serves one program at a time."""

    def __init__(self, listener: int = -1) -> None:
        # Descriptor from which requests for new threads are read. It is -1 if the kernel enforces the limit.
        self.listener = listener

    @property
    def is_kernel(self) -> bool:
        """Returns whether the kernel enforces the limit on threads itself."""
        return self.listener < 0

    def answer(self, meter: Meter) -> None:
        """Allows or refuses the next new thread that waits. Also refuses it if the threads cannot be counted."""
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
            # ENOENT: the thread that made the paused system call has ended in the meantime.
            if error.errno != errno.ENOENT:
                raise
