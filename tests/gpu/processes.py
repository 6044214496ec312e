#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Start processes of torch, CuPy and JAX on a GPU twice, directly and through stubs, and compare.

    tests/gpu/processes.py FOLDER [SITUATION]...

FOLDER is that of tests/gpu/frameworks.py, which compares what is computed; here it is how a
process begins, forks, hands memory to another, fails and ends.  The exit status and all that is
printed have to be the same.  A situation in which the direct process fails, for want of a module or
a GPU, is skipped with its last words.  Status 1 if one differs.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from frameworks import stubs_in

SECONDS = 200       # for one of them, beside others
AT_ONCE = 6
# What differs from process to process: addresses, times, process ids, temporary files, and how many
# threads std::terminate() ends.
VARIES = re.compile(r"0x[0-9a-f]+|/tmp/\S+|pid=\d+|\[W\d+ [\d:.]+ |\b\d{4,}\b|"
                    r"(?:terminate called.*\n)+")

X = "import torch\nx = torch.arange(1024., device='cuda')\n"
FORK = """
import os
child = os.fork()
if not child:
    {}
print(os.waitpid(child, 0)[1])
"""
IN_CHILD = """try: print({}.sum().item(), flush=True)
    except Exception as error: print(error, flush=True)
    os._exit(0)"""
WORKER = """
import torch, torch.multiprocessing as processes
def work(given, made):
    tensor = given.get()
    made.put(float(tensor.cuda().sum()))
    del tensor
if __name__ == '__main__':
    processes.set_start_method('{}')
    given, made = processes.Queue(), processes.Queue()
    worker = processes.Process(target=work, args=(given, made))
    worker.start()
    given.put({})
    print(made.get())
    worker.join()
    print(worker.exitcode)
"""
SITUATIONS = {
    # ---- the end ----
    "ends with memory": X + "print((x * 2).sum().item())",
    "os._exit": X + "import os\nprint(x.sum().item(), flush=True)\nos._exit(3)",
    "computes at exit": X + """
import atexit, weakref
class Last:
    def __del__(self): print('deleted', (x * 3).sum().item())
last = Last()
weakref.finalize(last, lambda: print('finalized', (x * 4).sum().item()))
atexit.register(lambda: print('at exit', (x * 2).sum().item()))""",
    "a communicator that nobody destroys": X + """
import torch.distributed as distributed
distributed.init_process_group('nccl', store=distributed.HashStore(), rank=0, world_size=1)
distributed.all_reduce(x)
print(x.sum().item())""",
    "SIGTERM": X + """
import os, signal, threading
threading.Timer(.5, lambda: os.kill(os.getpid(), signal.SIGTERM)).start()
while True: (x * 2).sum().item()""",

    # ---- other processes ----
    "fork before the first call": "import torch" + FORK.format(
        IN_CHILD.format("torch.ones(5, device='cuda')")) + "print(torch.ones(6, device='cuda').sum())",
    "fork after it": X + FORK.format(IN_CHILD.format("torch.ones(5, device='cuda')"))
    + "print(x.sum())",
    "fork after NVML was asked": "import torch\nprint(torch.cuda.is_available())" + FORK.format(
        IN_CHILD.format("torch.ones(5, device='cuda')")),
    "a child that ends as Python does": X + "import sys" + FORK.format("sys.exit(4)")
    + "print(x.sum())",
    "memory for another process": WORKER.format("spawn", "torch.arange(100., device='cuda')"),
    "exec": X + """
import os, sys
print(x.sum().item(), flush=True)
os.execv(sys.executable, [sys.executable, '-c', "import torch; print(torch.ones(9, device='cuda').sum())"])""",

    # ---- the beginning ----
    "first calls in eight threads": """
import threading, torch
made = [0] * 8
def compute(i): made[i] = torch.full((64, 64), float(i), device='cuda').sum().item()
threads = [threading.Thread(target=compute, args=(i,)) for i in range(8)]
for one in threads: one.start()
for one in threads: one.join()
print(made)""",
    "a first call on a small stack": """
import threading
threading.stack_size(65536)
import torch
one = threading.Thread(target=lambda: print(torch.ones(4, device='cuda').sum().item()))
one.start()
one.join()""",
    "RTLD_DEEPBIND": "import os, sys\nsys.setdlopenflags(os.RTLD_NOW | os.RTLD_DEEPBIND)\n" + X
    + "print(x.sum())",
    "what is in the process": X + """
import ctypes, os
for name in ('cudart.so.13', 'cublas.so.13', 'cudnn.so.9', 'cufft.so.12', 'nvrtc.so.13', 'cupti.so.13'):
    try: print(ctypes.CDLL('lib' + name, mode=os.RTLD_NOLOAD)._name)
    except OSError: print('no', name)""",
    "cuda.bindings": """
from cuda.bindings import driver, nvrtc, runtime
print(runtime.cudaGetDeviceCount(), runtime.cudaRuntimeGetVersion(), nvrtc.nvrtcVersion(), driver.cuInit(0))""",

    # ---- errors, tools, memory ----
    "an assertion on the device": X + """
for index in (5000, 1):
    try: print(x[torch.tensor([index], device='cuda')].sum().item())
    except Exception as error: print(str(error).splitlines()[0])""",
    "a profiler": X + """
from torch.profiler import ProfilerActivity, profile
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
    (x.view(32, 32) @ x.view(32, 32)).relu().sum().item()
found = seen.key_averages()
print(sorted(one.key for one in found if 'cuda' in one.key), any(one.device_time_total for one in found))""",
}


def run(name, folder, preloaded):
    """(exit status, what it printed, what it said on stderr)"""
    folder.mkdir()
    (folder / "program.py").write_text(SITUATIONS[name])
    env = {**os.environ, "LD_PRELOAD": " ".join(preloaded), "XLA_PYTHON_CLIENT_MEM_FRACTION": ".05",
           "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor", "TRITON_CACHE_DIR": f"{folder}/triton"}
    try:
        done = subprocess.run([sys.executable, "program.py"], cwd=folder, env=env, text=True,
                              capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"still running after {SECONDS} seconds", "", ""
    return (done.returncode, *(VARIES.sub("#", text) for text in (done.stdout, done.stderr)))


def main(arguments):
    stubs = stubs_in(arguments[0]) if arguments else []
    names = arguments[1:] or list(SITUATIONS)
    if not stubs or set(names) - set(SITUATIONS):
        sys.exit(__doc__)
    counts = dict(passed=0, failed=0, skipped=0)
    with tempfile.TemporaryDirectory() as scratch, \
            concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        def both(name):
            place = pathlib.Path(scratch) / name.replace(" ", "-").replace("'", "")
            return [run(name, place.with_name(place.name + how), preloaded)
                    for how, preloaded in (("-direct", []), ("-stubs", stubs))]
        for name, (direct, through) in zip(names, pool.map(both, names)):
            outcome = "skip" if direct[0] == 1 else "pass" if direct == through else "fail"
            counts[{"skip": "skipped", "pass": "passed", "fail": "failed"}[outcome]] += 1
            why = direct[2].strip().splitlines()[-1:] if outcome == "skip" else []
            print(f"{outcome} {name}:", *why or [f"status {direct[0]}"], flush=True)
            if outcome == "fail":
                for how, said in (("directly", direct), ("through stubs", through)):
                    print(f"  {how}: status {said[0]}\n{said[1][-500:]}{said[2][-800:]}")
    print(", ".join(f"{number} {what}" for what, number in counts.items()))
    return counts["failed"] != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
