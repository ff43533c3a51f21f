#!/usr/bin/env python3
"""Prints golden_schedules.h: learning-rate factors of PyTorch's schedulers (torch 2.11), one update after the other.

    python golden_schedules.py > golden_schedules.h
"""
import torch
from torch.optim import SGD, lr_scheduler as s


def rates(make, updates):
    optimizer = SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    scheduler = make(optimizer)
    values = []
    for _ in range(updates):
        values.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return values


def plateau():
    """Rate during each of 50 evaluations' updates: cut once the fourth in a row brings no gain above 0.05, rest 2, floor 0.002."""
    optimizer = SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    scheduler = s.ReduceLROnPlateau(optimizer, factor=0.3, patience=3, threshold=0.05, threshold_mode="abs", cooldown=2, min_lr=0.002)
    values = []
    for i in range(50):
        values.append(optimizer.param_groups[0]["lr"])
        scheduler.step(kPlateau[i])
    return values


kPlateau = [max(0.2, 1 - 0.09 * i) + (0.01 * ((i * 7) % 5)) for i in range(50)]
T, W = 70, 10


def warm(main):
    """Warm-up as ours: 1/W, 2/W, ... 1, then the curve from its beginning."""
    return [(k + 1) / W for k in range(W)] + main[: T - W]


cases = {
    "kCosineRestarts": rates(lambda o: s.CosineAnnealingWarmRestarts(o, T_0=10, T_mult=2, eta_min=0.05), T),
    "kCosineCycles": rates(lambda o: s.CosineAnnealingWarmRestarts(o, T_0=14, T_mult=1, eta_min=0.0), T),
    "kCosine": warm(rates(lambda o: s.CosineAnnealingLR(o, T_max=T - W, eta_min=0.1), T - W)),
    "kLinear": warm(rates(lambda o: s.LinearLR(o, start_factor=1.0, end_factor=0.1, total_iters=T - W), T - W)),
    "kPolynomial": warm(rates(lambda o: s.PolynomialLR(o, total_iters=T - W, power=2.5), T - W)),
    "kStep": warm(rates(lambda o: s.StepLR(o, step_size=7, gamma=0.4), T - W)),
    "kExponential": rates(lambda o: s.ExponentialLR(o, gamma=0.4 ** (1 / 7)), T),
    # ours reaches the final factor after the last update, PyTorch's with it: one step more, and the peak at the same place
    "kOneCycle": rates(lambda o: s.OneCycleLR(o, max_lr=1.0, total_steps=T + 1, pct_start=(0.3 * T + 1) / (T + 1), div_factor=25,
                                              final_div_factor=0.04 / 0.001, cycle_momentum=False), T),
    "kPlateauRates": plateau(),
}
print("// Made by golden_schedules.py.\n#pragma once\n\n#include <vector>\n\nnamespace lathe::golden {\n")
for name, values in list(cases.items()) + [("kPlateauValues", kPlateau)]:
    print(f"inline const std::vector<double> {name}{{" + ", ".join(repr(float(v)) for v in values) + "};")
print("\n}  // namespace lathe::golden")
