#!/usr/bin/env python3
"""Writes training.safetensors: 50 updates of plain PyTorch loops with its fused optimizers, one thread.

    python make_training_golden.py       (same environment as make_golden.py)

For each case: loss, norm before clipping and learning rate of every update, and the weights and buffers at the end.
An update is the mean cross-entropy over `parts` micro-batches together; inputs come from made().
"""
import os

import torch
import torch.nn as nn
from safetensors.torch import save_file

from make_golden import HERE, Convnet, made, mlp, set_weights

UPDATES, CLASSES = 50, 5


def factor(k, warm, total, final):
    """Warm-up, then linear down to `final` at the end."""
    if k < warm:
        return (k + 1) / warm
    return final + (1 - final) * (1 - min(1.0, (k - warm) / (total - warm)))


class Lion(torch.optim.Optimizer):
    """Algorithm 2 of Chen et al. 2023, Symbolic Discovery of Optimization Algorithms (arXiv 2302.06675)."""

    def __init__(self, params, lr, beta1, beta2, weight_decay):
        super().__init__(params, dict(lr=lr))
        self.b1, self.b2, self.wd = beta1, beta2, weight_decay

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                c = self.b1 * m + (1 - self.b1) * p.grad
                p -= group["lr"] * (torch.sign(c) + self.wd * p)
                m.copy_(self.b2 * m + (1 - self.b2) * p.grad)


def train(out, case, net, shape, parts, dtype, optimizer, clip):
    torch.set_default_dtype(torch.float64)
    set_weights(net)
    net.to(dtype).train()
    params = list(net.parameters())
    opt = optimizer(params)
    base = opt.param_groups[0]["lr"]
    losses, norms, rates = [], [], []
    for k in range(UPDATES):
        opt.param_groups[0]["lr"] = base * factor(k, 4, UPDATES, 0.1)
        opt.zero_grad(set_to_none=True)
        total, sums = sum(parts), []
        for i, size in enumerate(parts):
            x = (made(f"x{k}.{i}", (size, *shape)) * 4).to(dtype)
            y = (torch.arange(size) * 7 + k + i) % CLASSES
            loss = nn.functional.cross_entropy(net(x), y, reduction="sum")
            (loss / total).backward()
            sums.append(loss.item())
        norms.append(torch.nn.utils.clip_grad_norm_(params, clip).item())
        losses.append(sum(sums) / total)
        rates.append(opt.param_groups[0]["lr"])
        opt.step()
    out[f"{case}/loss"] = torch.tensor(losses, dtype=torch.float64)
    out[f"{case}/norm"] = torch.tensor(norms, dtype=torch.float64)
    out[f"{case}/lr"] = torch.tensor(rates, dtype=torch.float64)
    for name, tensor in net.state_dict().items():
        out[f"{case}/end/{name}"] = tensor.double()


def main():
    out = {}
    adamw = lambda ps: torch.optim.AdamW(ps, lr=3e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, fused=True)
    sgd = lambda ps: torch.optim.SGD(ps, lr=0.05, momentum=0.9, weight_decay=1e-3, nesterov=True, fused=True)
    train(out, "mlp_adamw", mlp(12, [16, 9], CLASSES), (12,), [32], torch.float32, adamw, 1.0)
    train(out, "mlp_adamw_window", mlp(12, [16, 9], CLASSES), (12,), [12, 12, 5], torch.float32, adamw, 0.5)
    train(out, "mlp_sgd", mlp(12, [16, 9], CLASSES), (12,), [32], torch.float32, sgd, 100.0)
    adam = lambda ps: torch.optim.Adam(ps, lr=3e-3, betas=(0.8, 0.99), eps=1e-7, weight_decay=1e-2, fused=True)
    damped = lambda ps: torch.optim.SGD(ps, lr=0.05, momentum=0.9, dampening=0.3, weight_decay=1e-3, fused=True)
    plain = lambda ps: torch.optim.SGD(ps, lr=0.1, weight_decay=1e-3, fused=True)
    lion = lambda ps: Lion(ps, lr=1e-3, beta1=0.9, beta2=0.99, weight_decay=0.1)
    train(out, "mlp_adam", mlp(12, [16, 9], CLASSES), (12,), [32], torch.float32, adam, 1.0)
    train(out, "mlp_sgd_damped", mlp(12, [16, 9], CLASSES), (12,), [32], torch.float32, damped, 100.0)
    train(out, "mlp_sgd_plain", mlp(12, [16, 9], CLASSES), (12,), [12, 12, 5], torch.float32, plain, 1.0)
    train(out, "mlp_lion", mlp(12, [16, 9], CLASSES), (12,), [32], torch.float64, lion, 1.0)
    train(out, "convnet_adamw", Convnet(2, 9, [4, 6], CLASSES, True), (2, 9, 9), [6], torch.float64, adamw, 1.0)
    train(out, "convnet_sgd_window", Convnet(2, 9, [4, 6], CLASSES, True), (2, 9, 9), [6, 6, 3], torch.float64, sgd, 1.0)
    save_file(out, os.path.join(HERE, "training.safetensors"))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
