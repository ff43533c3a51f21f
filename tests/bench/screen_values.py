"""Logs values to the run that it was started under and writes down when: "step nanoseconds" of CLOCK_MONOTONIC, before the
call. Arguments: file of the times, values before the watched ones, watched values, shortest and longest pause in seconds."""
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "resources", "python"))
import lathe  # noqa: E402

path, before, count, shortest, longest = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5])
run = lathe.init()
for step in range(before):
    run.log(step, loss=random.random())
    if step % 1000 == 999:
        while run.missing() > 20000:
            time.sleep(0.01)
while not run.save_requested():  # the window watches now
    time.sleep(0.02)
random.seed(1)
times = []
for step in range(before, before + count):
    time.sleep(random.uniform(shortest, longest))
    times.append((step, time.monotonic_ns()))
    run.log(step, loss=random.random())
with open(path + ".part", "w") as file:
    file.writelines("%d %d\n" % one for one in times)
os.rename(path + ".part", path)
while not run.should_stop():
    time.sleep(0.05)
