"""The peer of bench_parts: an epoch of shuffled batches of 256 x 20 floats through a DataLoader without workers.

    python data_pytorch.py

Prints the processor microseconds of a batch, the median of five epochs.
"""
import statistics
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
data = TensorDataset(torch.randn(20_000, 20), torch.randint(0, 10, (20_000,)))
micros = []
for _ in range(5):
    start = time.thread_time()
    batches = sum(1 for _ in DataLoader(data, 256, shuffle=True))
    micros.append((time.thread_time() - start) / batches * 1e6)
print(statistics.median(micros))
