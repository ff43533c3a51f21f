"""The peer of bench_step: the same net, batches and recipe in a plain PyTorch loop with its fused AdamW, one thread.

    python step_pytorch.py CASE STEPS

Prints the median step in processor microseconds.
"""
import math
import statistics
import sys
import time

import torch
from torch import nn

torch.set_num_threads(1)


def mlp(*widths):
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Gpt(nn.Module):
    """Two layers of width 64 with rotary positions and tied embeddings, one product for queries, keys and values."""

    class Layer(nn.Module):
        def __init__(self, width, heads, gates):
            super().__init__()
            norm = nn.RMSNorm if gates else nn.LayerNorm
            self.heads, self.gates = heads, gates
            self.norm1, self.norm2 = norm(width, eps=1e-5), norm(width, eps=1e-5)
            inner = (8 * width // 3 + 15) // 16 * 16 if gates else 4 * width
            self.qkv = nn.Linear(width, 3 * width, bias=False)
            self.out = nn.Linear(width, width, bias=False)
            self.up = nn.Linear(width, 2 * inner if gates else inner, bias=False)
            self.down = nn.Linear(inner, width, bias=False)

        def forward(self, x, cosine, sine):
            n, t, w = x.shape
            q, k, v = (z.view(n, t, self.heads, -1).transpose(1, 2) for z in self.qkv(self.norm1(x)).split(w, dim=2))
            turned = lambda z: z * cosine + torch.cat((-z[..., z.shape[-1] // 2 :], z[..., : z.shape[-1] // 2]), -1) * sine
            seen = nn.functional.scaled_dot_product_attention(turned(q), turned(k), v, is_causal=True)
            x = x + self.out(seen.transpose(1, 2).reshape(n, t, w))
            inner = self.up(self.norm2(x))
            if self.gates:
                gate, up = inner.chunk(2, dim=-1)
                return x + self.down(nn.functional.silu(gate) * up)
            return x + self.down(nn.functional.gelu(inner))

    def __init__(self, gates, width=64, heads=4, layers=2, context=64):
        super().__init__()
        self.embed = nn.Embedding(256, width)
        nn.init.normal_(self.embed.weight, std=0.02)
        self.layers = nn.ModuleList(Gpt.Layer(width, heads, gates) for _ in range(layers))
        self.norm = nn.RMSNorm(width, eps=1e-5) if gates else nn.LayerNorm(width, eps=1e-5)
        half = width // heads // 2
        angle = torch.arange(context)[:, None] * 10000.0 ** (-torch.arange(half) / half)
        self.register_buffer("cosine", torch.cat((angle, angle), -1).cos())
        self.register_buffer("sine", torch.cat((angle, angle), -1).sin())

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, self.cosine, self.sine)
        return nn.functional.linear(self.norm(x), self.embed.weight).flatten(0, 1)


NETS = {
    "gpt_64": (16, (64,), lambda: Gpt(True)),
    "gpt_64_gelu": (16, (64,), lambda: Gpt(False)),
    "mlp_small": (32, (32,), lambda: mlp(32, 64, 64, 10)),
    "mlp_784": (128, (784,), lambda: mlp(784, 512, 512, 10)),
    "conv_28": (64, (1, 28, 28), lambda: nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(784, 10))),
}


def made(case):
    """The net, its parameters' fused AdamW, and 32 batches of (input, target)."""
    batch, shape, make = NETS[case]
    net = make().train()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.01, fused=True)
    if case.startswith("gpt"):
        rows = [(torch.arange(batch * 65).view(batch, 65) * 7 + i) % 256 for i in range(32)]
        return net, opt, [(r[:, :-1].contiguous(), r[:, 1:].flatten()) for r in rows]
    numel = batch * math.prod(shape)
    xs = [torch.sin(torch.arange(numel, dtype=torch.float32) * (0.37 + 0.01 * i)).view(batch, *shape) for i in range(32)]
    return net, opt, [(x, (torch.arange(batch) * 7 + i) % 10) for i, x in enumerate(xs)]


def loop_micros(case, steps, reads):
    """Processor microseconds of each step; `reads`: loss and norm of each step are read, as any loop that shows them must."""
    net, opt, batches = made(case)
    params = list(net.parameters())
    times, shown = [], 0.0
    for step in range(steps):
        start = time.thread_time_ns()
        x, y = batches[step % len(batches)]
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(params, 1.0)
        opt.step()
        opt.zero_grad(set_to_none=True)
        if reads:
            shown += loss.item() + norm.item()
        times.append((time.thread_time_ns() - start) / 1e3)
    return times


if __name__ == "__main__":
    print(statistics.median(loop_micros(sys.argv[1], int(sys.argv[2]), True)))
