"""Loads the tensors of one of our checkpoints with torch.load and safetensors, one round for each line that it reads, and answers with the
seconds of both. Usage: checkpoint_torch.py FOLDER"""
import os
import sys
import tempfile
import time

import torch
from safetensors.torch import load_file

folder = sys.argv[1]
torch.set_num_threads(1)
files = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".safetensors")]


def seconds(what):
    start = time.perf_counter()
    what()
    return time.perf_counter() - start


everything = {os.path.basename(name): load_file(name) for name in files}
ready = [{key: torch.zeros_like(value) for key, value in load_file(name).items()} for name in files]


def load_into_ready():
    """load_file alone only maps the file; a resume wants the values in the tensors of a model."""
    for name, tensors in zip(files, ready):
        for key, value in load_file(name).items():
            tensors[key].copy_(value)


with tempfile.TemporaryDirectory(dir=os.path.dirname(folder)) as place:
    path = os.path.join(place, "state.pt")
    torch.save(everything, path)
    del everything
    first = lambda: next(iter(next(iter(torch.load(path, weights_only=True).values())).values())).sum()
    first()
    load_into_ready()
    print("ready", flush=True)
    for _ in sys.stdin:
        print(seconds(first), seconds(load_into_ready), flush=True)
