"""The peer of bench_parts: an epoch of shuffled batches of 256 x 20 floats through a DataLoader without workers.

    python data_pytorch.py

Prints the microseconds of a batch, the smallest of three epochs.
"""
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
data = TensorDataset(torch.randn(20_000, 20), torch.randint(0, 10, (20_000,)))
best = float("inf")
for _ in range(3):
    start = time.perf_counter()
    batches = sum(1 for _ in DataLoader(data, 256, shuffle=True))
    best = min(best, (time.perf_counter() - start) / batches)
print(best * 1e6)
