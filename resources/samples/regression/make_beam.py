#!/usr/bin/env python3
"""Writes beam.csv. See README.md for what it holds; the seed makes it the same file each time."""
import csv
import random

rng = random.Random(20)
with open("beam.csv", "w", newline="") as file:
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(["length_m", "width_mm", "height_mm", "force_n", "modulus_gpa", "deflection_mm"])
    for _ in range(600):
        length = round(rng.uniform(1.0, 2.0), 3)
        width = round(rng.uniform(40, 80), 1)
        height = round(rng.uniform(60, 120), 1)
        force = round(rng.uniform(200, 1000))
        modulus = round(rng.uniform(9, 13), 2)
        inertia = width * 1e-3 * (height * 1e-3) ** 3 / 12
        exact = force * length**3 / (48 * modulus * 1e9 * inertia) * 1e3
        rows.writerow([length, width, height, force, modulus, round(exact * rng.gauss(1, 0.02), 4)])
