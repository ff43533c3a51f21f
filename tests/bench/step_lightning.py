"""What Lightning's Trainer adds to the plain PyTorch loop of step_pytorch.py: the same net, batches, optimizer and clipping.

    python step_lightning.py CASE STEPS

Prints two figures, in processor microseconds a step of the training thread: without a logger, and with loss, rate and norm
logged to its TensorBoard logger at each step. Both are medians less the median of the plain loop, which runs before it.
"""
import logging
import statistics
import sys
import tempfile
import time
import warnings

import lightning.pytorch as L
import torch
from lightning.pytorch.loggers import TensorBoardLogger

from step_pytorch import loop_micros, made

WARM_UP = 20
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class Feed:
    """Ready batches that note when each one is asked for: a step lasts from one to the next."""

    def __init__(self, batches, steps):
        self.batches, self.steps, self.stamps = batches, steps, []

    def __len__(self):
        return self.steps

    def __iter__(self):
        for i in range(self.steps):
            self.stamps.append(time.thread_time_ns())
            yield self.batches[i % len(self.batches)]


class Module(L.LightningModule):
    def __init__(self, net, opt, logs):
        super().__init__()
        self.net, self.opt, self.logs = net, opt, logs

    def training_step(self, batch, _):
        loss = torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        if self.logs:
            self.log("loss", loss)
        return loss

    def configure_gradient_clipping(self, opt, gradient_clip_val=None, gradient_clip_algorithm=None):
        norm = torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        if self.logs:
            self.log("grad_norm", norm)
            self.log("lr", opt.param_groups[0]["lr"])

    def configure_optimizers(self):
        return self.opt


def lightning_micros(case, steps, logs):
    net, opt, batches = made(case)
    feed = Feed(batches, steps)
    with tempfile.TemporaryDirectory() as folder:
        trainer = L.Trainer(accelerator="cpu", devices=1, max_epochs=1, logger=TensorBoardLogger(folder) if logs else False, log_every_n_steps=1,
                            enable_progress_bar=False, enable_checkpointing=False, enable_model_summary=False, default_root_dir=folder)
        trainer.fit(Module(net, opt, logs), feed)
    return [(b - a) / 1e3 for a, b in zip(feed.stamps, feed.stamps[1:])]


if __name__ == "__main__":
    case, steps = sys.argv[1], int(sys.argv[2])
    for logs in (False, True):
        plain, theirs = loop_micros(case, steps, logs), lightning_micros(case, steps, logs)
        print(statistics.median(theirs[WARM_UP:]) - statistics.median(plain[WARM_UP:]))
