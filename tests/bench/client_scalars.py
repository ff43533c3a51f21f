"""Cost of logging one scalar from Python: lathe.py (to the recorder of bench_client), and TensorBoard's SummaryWriter where it
is installed. Microseconds a call, median of rounds; one JSON object."""
import json
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "resources", "python"))
import lathe  # noqa: E402

ROUNDS, CALLS = 7, 20000


def median_us(call, settle=lambda: None, calls=CALLS):
    wall, cpu = [], []
    for _ in range(ROUNDS):
        settle()
        began, used = time.perf_counter(), time.process_time()
        for step in range(calls):
            call(step)
        wall.append(time.perf_counter() - began)
        settle()
        cpu.append(time.process_time() - used)
    return sorted(wall)[ROUNDS // 2] / calls * 1e6, sorted(cpu)[ROUNDS // 2] / calls * 1e6


run = lathe.init()
if not run.is_recorded:
    sys.exit(3)


def settle():
    while run.missing() > 0:
        time.sleep(0.02)  # acknowledged about once a second; looking must not cost what is measured


facts = {}
facts["one"], facts["one_cpu"] = median_us(lambda step: run.log(step, loss=0.5), settle)
facts["three"], facts["three_cpu"] = (value / 3 for value in median_us(lambda step: run.log(step, loss=0.5, lr=0.1, grad_norm=1.0), settle))
facts["lost"] = run.missing()
run.finish()
try:
    from torch.utils.tensorboard import SummaryWriter
except Exception:
    try:
        from tensorboardX import SummaryWriter
    except Exception:
        SummaryWriter = None
if SummaryWriter:
    with tempfile.TemporaryDirectory() as folder:
        writer = SummaryWriter(folder)
        facts["tensorboard"], facts["tensorboard_cpu"] = median_us(lambda step: writer.add_scalar("loss", 0.5, step), writer.flush, 5000)
        writer.close()
print(json.dumps(facts))
