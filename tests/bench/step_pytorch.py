"""The peer of bench_step: the same net, batches and recipe in a plain PyTorch loop with its fused AdamW, one thread.

    python step_pytorch.py CASE STEPS

Prints the tenth-percentile step in processor microseconds; loss and norm of each step are read, as any loop that shows them must.
"""
import sys
import time

import torch
from torch import nn

torch.set_num_threads(1)
case, steps = sys.argv[1], int(sys.argv[2])


def mlp(*widths):
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


NETS = {
    "mlp_small": (32, (32,), lambda: mlp(32, 64, 64, 10)),
    "mlp_784": (128, (784,), lambda: mlp(784, 512, 512, 10)),
    "conv_28": (64, (1, 28, 28), lambda: nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(784, 10))),
}
batch, shape, make = NETS[case]
net = make().train()
params = list(net.parameters())
opt = torch.optim.AdamW(params, lr=1e-3, weight_decay=0.01, fused=True)
numel = batch
for s in shape:
    numel *= s
xs = [torch.sin(torch.arange(numel, dtype=torch.float32) * (0.37 + 0.01 * i)).view(batch, *shape) for i in range(32)]
ys = [(torch.arange(batch) * 7 + i) % 10 for i in range(32)]
times, shown = [], 0.0
for step in range(steps):
    start = time.thread_time()
    loss = nn.functional.cross_entropy(net(xs[step % 32]), ys[step % 32])
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(params, 1.0)
    opt.step()
    opt.zero_grad(set_to_none=True)
    shown += loss.item() + norm.item()
    times.append((time.thread_time() - start) * 1e6)
times.sort()
print(times[len(times) // 10])
