/** Programs that want more than they may have, beside those of `gradus sandbox check`. */
import { exceeding, type Hostile } from "../../../../../server/outside/sandbox/check/hostile.ts";

export const limits: readonly Hostile[] = [
  exceeding("an endless loop before anything is called", "while True: pass"),
  exceeding("an endless loop in C", "def tries(): return sum(iter(int, 1))"),
  exceeding(
    "a regular expression that never ends",
    "import re\ndef tries(): return re.match('(a+)+$', 'a' * 60 + 'b')",
  ),
  exceeding("a generator that never ends", "import itertools\ndef tries(): return list(itertools.count())"),
  exceeding(
    "a result without end, of which a list is made",
    "import itertools\ndef tries(): return itertools.count()",
    ["exceeded"],
    "call",
    ["list"],
  ),
  exceeding(
    "a result whose length never comes",
    "class Long:\n  def __len__(self):\n    while True: pass\ndef tries(): return Long()",
    ["exceeded"],
    "call",
    ["len"],
  ),
  exceeding("sleeping for ever", "import time\ndef tries(): time.sleep(1e6)"),
  exceeding(
    "waiting for a lock for ever",
    "import threading\ndef tries():\n  l = threading.Lock(); l.acquire(); l.acquire()",
  ),
  exceeding(
    "an endless loop that catches every signal",
    String.raw`
import signal
def tries():
    for number in range(1, 65):
        try: signal.signal(number, lambda *_: None)
        except (OSError, ValueError): pass
    while True:
        try:
            while True: pass
        except BaseException: pass`,
  ),
  exceeding(
    "threads that loop for ever",
    "import threading\ndef f():\n  while True: pass\ndef tries():\n  for _ in range(8): threading.Thread(target=f).start()\n  f()",
  ),
  exceeding("10 GB bit by bit", "def tries():\n  kept = []\n  while True: kept.append(bytes(10**8))"),
  exceeding(
    "10 GB in anonymous maps",
    "import mmap\ndef tries():\n  kept = []\n  while True: kept.append(mmap.mmap(-1, 10**8))",
    ["raised", "exceeded"],
  ),
  exceeding(
    "a zip bomb",
    String.raw`
import zlib
def tries():
    bomb = zlib.compress(bytes(10**8), 9)
    return [zlib.decompress(bomb) for _ in range(100)]`,
  ),
  exceeding("a huge int", "def tries(): return 9**9**9"),
  exceeding("a huge int as a result", "def tries(): return 1 << 10**7"),
  exceeding("printing an int of a million digits", "print(10**(10**6))", ["exceeded", "printed"], "script"),
  exceeding("a huge result", "def tries(): return [0] * 10**7"),
  exceeding("a long string as a result", "def tries(): return 'x' * 10**8"),
  exceeding("a result that holds itself", "def tries():\n  x = []\n  x.append(x)\n  return x"),
  exceeding(
    "a result of a billion parts by sharing",
    "def tries():\n  x = [0]\n  for _ in range(30): x = [x, x]\n  return x",
  ),
  exceeding("huge output", "while True: print('x' * 10**6)", ["exceeded"], "script"),
  exceeding("output without end in small pieces", "import os\nwhile True: os.write(1, b'x')", ["exceeded"], "script"),
  exceeding(
    "output to the error stream without end",
    "import os\nwhile True: os.write(2, b'x' * 10**5)",
    ["exceeded"],
    "script",
  ),
  exceeding("deep recursion", "def tries():\n  f = lambda n: f(n + 1)\n  return f(0)", ["raised"]),
  exceeding(
    "deep recursion without Python's limit",
    "import sys\nsys.setrecursionlimit(10**9)\ndef tries():\n  f = lambda n: f(n + 1)\n  return f(0)",
    ["died", "exceeded"],
  ),
  exceeding(
    "a crash of the interpreter",
    "import sys\nsys.setrecursionlimit(10**9)\ndef tries():\n  x = []\n  for _ in range(10**7): x = [x]\n  return repr(x)",
    ["died", "exceeded", "raised"],
  ),
  exceeding("reading where there is nothing", "import ctypes\ndef tries(): return ctypes.string_at(0)", ["died"]),
  exceeding("an expression nested 100,000 deep", `def tries(): return ${"(".repeat(100_000)}1${")".repeat(100_000)}`, [
    "unusable",
    "exceeded",
    "died",
  ]),
  exceeding("descriptors without end", "import os\ndef tries():\n  while True: os.dup(0)", ["raised"]),
];
