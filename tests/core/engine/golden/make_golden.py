#!/usr/bin/env python3
"""Writes the golden files of this folder from plain PyTorch and torchvision, in double.

    python -m pip install torch==2.11.0 numpy safetensors pillow; python -m pip install --no-deps torchvision==0.26.0
    python make_golden.py

Weights and inputs are not stored: both sides make them from made(), a formula over names and indices.
"""
import os
from collections import OrderedDict

import numpy as np
import torch
import torch.nn as nn
import torchvision
from safetensors.torch import save_file
from torchvision.models.resnet import BasicBlock, Bottleneck

HERE = os.path.dirname(os.path.abspath(__file__))
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


def made(name, shape):
    """Numbers in [-0.5, 0.5): FNV-1a of the name and murmur's finaliser over the index. Exact in double."""
    h = 2166136261
    for c in name.encode():
        h = (h ^ c) * 16777619 % 2**32
    n = int(np.prod(shape)) if len(shape) else 1
    x = (np.arange(n, dtype=np.uint64) * np.uint64(2654435761) + np.uint64(h)) & np.uint64(0xFFFFFFFF)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        x ^= x >> np.uint64(shift)
        x = x * np.uint64(factor) & np.uint64(0xFFFFFFFF)
    x ^= x >> np.uint64(16)
    return torch.from_numpy(x.astype(np.float64) / 2.0**32 - 0.5).reshape(shape)


def set_weights(net):
    with torch.no_grad():
        for name, p in net.named_parameters():
            if p.dim() > 1:
                p.copy_(made(name, p.shape) * (2.0 * (p.numel() / p.shape[0]) ** -0.5 * 3.0**0.5))
            elif "bn" in name or "downsample.1" in name:
                p.copy_(made(name, p.shape) * 0.5 + (1.0 if name.endswith("weight") else 0.0))
            else:
                p.copy_(made(name, p.shape))


class Convnet(nn.Module):
    def __init__(s, channels, side, filters, classes, norm):
        super().__init__()
        s.stages = len(filters)
        for i, f in enumerate(filters, 1):
            setattr(s, f"conv{i}", nn.Conv2d(channels, f, 3, padding=1, bias=not norm))
            if norm:
                setattr(s, f"bn{i}", nn.BatchNorm2d(f))
            channels = f
        s.pools = []
        for _ in filters:
            s.pools.append(side >= 4)
            side = side // 2 if side >= 4 else side
        s.norm = norm
        s.fc = nn.Linear(channels * side * side, classes)

    def forward(s, x):
        for i in range(1, s.stages + 1):
            x = getattr(s, f"conv{i}")(x)
            if s.norm:
                x = getattr(s, f"bn{i}")(x)
            x = torch.relu(x)
            if s.pools[i - 1]:
                x = nn.functional.max_pool2d(x, 2)
        return s.fc(x.flatten(1))


class NarrowResnet(nn.Module):
    """torchvision's residual blocks on a small stem, `width` channels in the first stage."""

    def __init__(s, block, layers, width, channels, classes):
        super().__init__()
        s.conv1 = nn.Conv2d(channels, width, 3, padding=1, bias=False)
        s.bn1 = nn.BatchNorm2d(width)
        inside = width
        for stage, count in enumerate(layers):
            planes, blocks = width * 2**stage, []
            for i in range(count):
                stride = 2 if stage and not i else 1
                down = None
                if stride != 1 or inside != planes * block.expansion:
                    down = nn.Sequential(nn.Conv2d(inside, planes * block.expansion, 1, stride, bias=False), nn.BatchNorm2d(planes * block.expansion))
                blocks.append(block(inside, planes, stride, down))
                inside = planes * block.expansion
            setattr(s, f"layer{stage + 1}", nn.Sequential(*blocks))
        s.fc = nn.Linear(inside, classes)

    def forward(s, x):
        x = torch.relu(s.bn1(s.conv1(x)))
        for stage in range(1, 5):
            x = getattr(s, f"layer{stage}")(x)
        return s.fc(x.mean((2, 3)))


def mlp(features, hidden, outputs):
    layers, inside = [], features
    for h in hidden:
        layers += [nn.Linear(inside, h), nn.ReLU()]
        inside = h
    return nn.Sequential(*layers, nn.Linear(inside, outputs))


def record(out, case, net, shape, classes, batches=1, norms_only=False):
    """`batches` training passes (their gradients added up, BatchNorm moving each time), then one in evaluation."""
    set_weights(net)
    net.train()
    for k in range(batches):
        x, y = made(f"input{k}", shape), (torch.arange(shape[0]) * 7 + k) % classes
        output = net(x)
        loss = nn.functional.cross_entropy(output, y, reduction="sum")
        loss.backward()
        out[f"{case}/output{k}"] = output.detach().clone()
        out[f"{case}/loss{k}"] = loss.detach().clone()
    for name, p in net.named_parameters():
        if norms_only:
            out[f"{case}/norm/{name}"] = p.grad.norm()
        else:
            out[f"{case}/gradient/{name}"] = p.grad.clone()
    for name, b in net.named_buffers():
        if not norms_only or "layer" not in name:
            out[f"{case}/buffer/{name}"] = b.clone()
    net.eval()
    with torch.no_grad():
        out[f"{case}/evaluation"] = net(made("input0", shape))


def models():
    out = {}
    record(out, "linear", nn.Linear(12, 5), (6, 12), 5)
    record(out, "mlp", mlp(12, [9, 7], 5), (6, 12), 5)
    record(out, "convnet", Convnet(2, 9, [4, 6, 5], 5, False), (3, 2, 9, 9), 5)
    record(out, "convnet_norm", Convnet(2, 9, [4, 6, 5], 5, True), (3, 2, 9, 9), 5, batches=4)
    record(out, "resnet18_narrow", NarrowResnet(BasicBlock, [2, 2, 2, 2], 2, 1, 5), (4, 1, 12, 12), 5)
    record(out, "resnet50_narrow", NarrowResnet(Bottleneck, [3, 4, 6, 3], 2, 3, 5), (4, 3, 12, 12), 5)
    record(out, "resnet18", torchvision.models.resnet18(num_classes=10), (4, 3, 40, 40), 10, norms_only=True)
    save_file(out, os.path.join(HERE, "models.safetensors"))


def names():
    for kind in (18, 34, 50, 101, 152):
        with torch.device("meta"):
            net = getattr(torchvision.models, f"resnet{kind}")()
        text = "".join(f"{n} {'x'.join(map(str, t.shape))}\n" for n, t in [*net.named_parameters(), *net.named_buffers()])
        with open(os.path.join(HERE, f"resnet{kind}.txt"), "w") as f:
            f.write(text)


def losses():
    out = OrderedDict()
    weight = made("weight", (6,)) + 0.75

    def add(name, guess, make):
        guess = guess.clone().requires_grad_()
        loss = make(guess)
        loss.backward()
        out[name], out[name + "/gradient"] = loss.detach().clone(), guess.grad

    logits, y = made("logits", (6, 5)) * 8, torch.arange(6) * 3 % 5
    for smoothing in (0.0, 0.1, 0.9):
        ce = nn.CrossEntropyLoss(label_smoothing=smoothing, reduction="none")
        add(f"cross_entropy_{smoothing}", logits, lambda g: ce(g, y).sum())
        add(f"cross_entropy_{smoothing}_weighted", logits, lambda g: (ce(g, y) * weight).sum())
    guess, target = made("guess", (6, 3)) * 6, made("target", (6, 3)) * 6
    for name, loss in (("mse", nn.MSELoss(reduction="none")), ("mae", nn.L1Loss(reduction="none")), ("huber", nn.HuberLoss(reduction="none"))):
        add(name, guess, lambda g: loss(g, target).mean(1).sum())
        add(name + "_weighted", guess, lambda g: (loss(g, target).mean(1) * weight).sum())
    save_file(out, os.path.join(HERE, "losses.safetensors"))


if __name__ == "__main__":
    models()
    names()
    losses()
