"""The peer of bench_ranks: two processes with PyTorch's DistributedDataParallel over Gloo, fused AdamW, one thread each.

    python ranks_pytorch.py STEPS

Prints the processor microseconds of a step of the busier rank; loss and norm of each step are read.
"""
import os
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def work(rank, steps, meeting, answers):
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=2)
    net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    model = nn.parallel.DistributedDataParallel(net)
    params = list(net.parameters())
    opt = torch.optim.AdamW(params, lr=1e-3, weight_decay=0.01, fused=True)
    xs = [torch.sin(torch.arange(32 * 32, dtype=torch.float32) * (0.37 + 0.01 * i)).view(32, 32) for i in range(32)]
    ys = [(torch.arange(32) * 7 + i) % 10 for i in range(32)]
    shown = 0.0
    for step in range(-50, steps):
        if step == 0:
            start = time.process_time()
        loss = nn.functional.cross_entropy(model(xs[step % 32]), ys[step % 32])
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(params, 1.0)
        opt.step()
        opt.zero_grad(set_to_none=True)
        shown += loss.item() + norm.item()
    answers.put((time.process_time() - start) * 1e6 / steps)
    dist.destroy_process_group()


if __name__ == "__main__":
    queue = mp.get_context("spawn").SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, (int(sys.argv[1]), os.path.join(folder, "meet"), queue), nprocs=2)
    print(max(queue.get(), queue.get()))
