# SPDX-License-Identifier: GPL-3.0-or-later
"""A plain PyTorch loop shows up in Lathe.

    from lathe_torch import Watch

    with Watch(model, optimizer, total_steps=1000) as watch:
        for inputs, targets in loader:
            loss = criterion(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if watch.step(loss):          # records loss, rates, gradient norm; True: somebody asked to stop
                break

"Save" in Lathe writes {"model", "optimizer", "step"} to the folder `checkpoints` and registers the file.
"""

import os

import torch

import lathe

__all__ = ["Watch"]


class Watch:
    """Counts steps from `first_step`. name and workspace are for a run that this starts (lathe.init)."""

    def __init__(self, model, optimizer, total_steps=None, name=None, workspace=None, checkpoints="checkpoints", first_step=0, gradient_norm=True):
        self._model, self._optimizer = model, optimizer
        self._folder, self._step, self._norm = checkpoints, first_step, gradient_norm
        self.run = lathe.init(name=name, workspace=workspace, total_steps=total_steps)

    def step(self, loss, **more):
        """After optimizer.step(), while the gradients are still there. `more`: further values of this step."""
        self._step += 1
        values = {"loss": loss, **more, **lathe.learning_rates(self._optimizer)}
        if self._norm and self.run.is_recorded:
            norms = [torch.linalg.vector_norm(p.grad.detach()) for p in self._model.parameters() if p.grad is not None]
            if norms:
                values["grad_norm"] = torch.linalg.vector_norm(torch.stack([norm.to(norms[0].device) for norm in norms]))
        self.run.log(self._step, values)
        if self.run.save_requested():
            self.save()
        return self.run.should_stop()

    def evaluated(self, **metrics):
        """Results of an evaluation: watch.evaluated(loss=0.3, accuracy=0.9)."""
        self.run.log(self._step, {"eval/" + name: value for name, value in metrics.items()})

    def save(self, metrics=None):
        """Writes a checkpoint file and registers it; returns its path."""
        os.makedirs(self._folder, exist_ok=True)
        path = os.path.join(self._folder, "step-%09d.pt" % self._step)
        torch.save({"model": self._model.state_dict(), "optimizer": self._optimizer.state_dict(), "step": self._step}, path + ".tmp")
        os.replace(path + ".tmp", path)
        self.run.checkpoint(self._step, path, metrics)
        return path

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        return self.run.__exit__(*problem)
