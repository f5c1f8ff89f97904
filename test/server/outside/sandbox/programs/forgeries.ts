/** Programs that have no answer and want to be counted as right, beside those of `gradus sandbox check`. */
import { forging, type Hostile } from "../../../../../server/outside/sandbox/check/hostile.ts";

export const forgeries: readonly Hostile[] = [
  forging(
    "a value that equals everything",
    "class Any(int):\n  def __eq__(self, other): return True\n  def __hash__(self): return 0\n  def __repr__(self): return '128486'\ndef solve(x): return Any()",
  ),
  forging(
    "a class that says it is int",
    "class Any:\n  __class__ = int\n  def __eq__(self, other): return True\n  def __int__(self): return 1\n  def __index__(self): return 1\ndef solve(x): return Any()",
  ),
  forging(
    "a value whose size is one that equals everything",
    "class Any(int):\n  def __eq__(self, other): return True\n  def __hash__(self): return 0\nclass Value:\n  def __abs__(self): return Any()\ndef solve(x): return Value()",
    ["abs"],
  ),
  forging(
    "patched builtins, where one is applied to the result",
    String.raw`
import builtins, sys
class Any(int):
    def __eq__(self, other): return True
    def __hash__(self): return 0
builtins.max = lambda *_: Any()
for module in list(sys.modules.values()):
    kept = getattr(module, "BUILTINS", None)
    if type(kept) is dict: kept["max"] = lambda *_: Any()
def solve(x): return [x]`,
    ["max"],
  ),
  forging("sys.exit(0)", "import sys\ndef solve(x): sys.exit(0)"),
  forging("sys.exit(0) before anything is called", "import sys\nsys.exit(0)"),
  forging("os._exit(0)", "import os\ndef solve(x): os._exit(0)"),
  forging("os._exit(0) before anything is called", "import os\nos._exit(0)"),
  forging(
    "printed markers",
    "def solve(x):\n  print('PASSED'); print('OK'); print('1 passed in 0.01s'); print('{\"value\":true}')\n  return 'PASSED'",
  ),
  forging(
    "patched builtins",
    String.raw`
import builtins
for name in ("all", "any", "len", "isinstance", "type", "repr", "print", "sorted", "getattr"):
    setattr(builtins, name, lambda *a, **k: True)
def solve(x): return True`,
  ),
  forging(
    "a patched encoder",
    String.raw`
import sys, json
for module in list(sys.modules.values()):
    for name in ("encode", "reply", "to_json", "to_ascii", "dumps", "send", "write_all"):
        try: setattr(module, name, lambda *a, **k: b'{"value":true}')
        except Exception: pass
def solve(x): return None`,
  ),
  forging("a reply that claims 4 GiB", "import os\ndef solve(x):\n  os.write(4, b'\\xff' * 4)\n  os._exit(0)"),
  forging(
    "a reply that is not JSON",
    "import os\ndef solve(x):\n  os.write(4, b'\\0\\0\\0\\4' + b'\\xff\\xfe[[')\n  while True: pass",
  ),
  forging(
    "a reply of a million brackets",
    "import os, struct\ndef solve(x):\n  data = b'{\"value\":' + b'[' * 900_000 + b']' * 900_000 + b'}'\n  data = struct.pack('>I', len(data)) + data\n  while data: data = data[os.write(4, data):]\n  os._exit(0)",
  ),
  forging("closed descriptors", "import os\ndef solve(x):\n  os.closerange(0, 16)\n  return True"),
  forging(
    "the answer in the frames that call it",
    String.raw`
import sys
def solve(x):
    frame, found = sys._getframe(), []
    while frame is not None:
        found += [v for v in list(frame.f_locals.values()) + list(frame.f_globals.values()) if type(v) is int and v > 10**5]
        frame = frame.f_back
    return next((v for v in found if (v - 104729) % 7919 == 0), None)`,
  ),
  forging(
    "the answer in any object there is",
    String.raw`
import gc
def solve(x):
    wanted = str(x * 7919 + 104729)[:3]
    for thing in gc.get_objects():
        if type(thing) is dict and "expected" in thing: return thing["expected"]
    return None`,
  ),
  forging(
    "the answer in the bytes of its memory",
    String.raw`
import ctypes
def solve(x):
    marker = b"expected"
    near = id(marker) & ~0xFFF
    return marker in ctypes.string_at(near - 4096, 0)`,
  ),
  forging(
    "a finalizer that replies later",
    String.raw`
import os, struct
class Late:
    def __del__(self):
        data = b'{"value":true}'
        os.write(4, struct.pack(">I", len(data)) + data)
kept = []
def solve(x):
    Late()
    return Late()`,
  ),
  forging(
    "something registered for the end",
    "import atexit, os\natexit.register(lambda: os._exit(0))\ndef solve(x): raise SystemExit(0)",
  ),
  forging(
    "a thread that replies to the next call",
    String.raw`
import os, struct, threading, time
data = b'{"value":true}'
def later():
    time.sleep(0.05)
    try: os.write(4, struct.pack(">I", len(data)) + data)
    except OSError: pass
def solve(x):
    threading.Thread(target=later, daemon=True).start()
    time.sleep(0.1)
    return None`,
  ),
  forging(
    "a changed importer, tracer and profiler",
    "import sys\nsys.settrace(lambda *a: None); sys.setprofile(lambda *a: None)\nsys.meta_path.clear(); sys.modules.clear()\ndef solve(x): return True",
  ),
];
