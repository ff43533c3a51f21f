# SPDX-License-Identifier: GPL-3.0-or-later
"""Lightning shows up in Lathe: Trainer(callbacks=[LatheCallback()]).

Everything that the module logs (self.log, loggers, learning rates) is recorded at its global step; checkpoints that Lightning
writes are registered with their metrics; "stop" in Lathe ends the fit after the batch, "save" writes a checkpoint.
"""

import os

try:
    import lightning.pytorch as pl
except ImportError:
    import pytorch_lightning as pl

import lathe

__all__ = ["LatheCallback"]


class LatheCallback(pl.Callback):
    """name and workspace are for a run that this callback starts (lathe.init)."""

    def __init__(self, name=None, workspace=None):
        self._name, self._workspace = name, workspace
        self._run = None
        self._saved = {}                 # path: time of the file that was told
        self._at_save = None             # step and metrics of the newest checkpoint
        self._looked_at = None
        self._logged = None
        self._before, self._evaluated = set(), set()

    def on_fit_start(self, trainer, pl_module):
        if not trainer.is_global_zero:
            return
        total = trainer.estimated_stepping_batches
        self._run = lathe.init(name=self._name, workspace=self._workspace, total_steps=int(total) if total != float("inf") else None)

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        run = self._run
        if run is None:
            return
        # Not logged_metrics: those are only renewed every log_every_n_steps.
        values = {name: value for name, value in trainer.callback_metrics.items() if name not in self._evaluated}
        if not values.keys() & {"loss", "train_loss", "train/loss", "train_loss_step"}:
            loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
            if loss is not None:
                values["loss"] = loss
        for name, rate in lathe.learning_rates(*trainer.optimizers).items():
            values.setdefault(name, rate)
        if trainer.global_step != self._logged:  # with accumulation several batches make a step
            self._logged = trainer.global_step
            run.log(trainer.global_step, values)
        if self._looked_at is not self._at_save:
            self._register(trainer)
        if run.save_requested():
            path = os.path.join(trainer.default_root_dir, "lathe-step%d.ckpt" % trainer.global_step)
            trainer.save_checkpoint(path)
            run.checkpoint(trainer.global_step, path, trainer.callback_metrics)
        if run.should_stop():
            trainer.should_stop = True

    def on_validation_start(self, trainer, pl_module):
        self._before = set(trainer.callback_metrics)

    def on_validation_end(self, trainer, pl_module):
        self._evaluated |= set(trainer.callback_metrics) - self._before
        if self._run is not None and not trainer.sanity_checking:
            self._run.log(trainer.global_step, {name: value for name, value in trainer.callback_metrics.items() if name in self._evaluated})

    def on_save_checkpoint(self, trainer, pl_module, checkpoint):
        self._at_save = (trainer.global_step, dict(trainer.callback_metrics))

    def on_train_epoch_end(self, trainer, pl_module):
        self._register(trainer)

    def on_fit_end(self, trainer, pl_module):
        self._register(trainer)

    def on_exception(self, trainer, pl_module, exception):
        if self._run is not None:
            self._run.note("%s: %s" % (type(exception).__name__, exception), kind="error")

    def _register(self, trainer):
        """Tells of the files that Lightning's own checkpoint callbacks have written since, with the step that they were written at."""
        self._looked_at = self._at_save
        step, metrics = self._at_save or (trainer.global_step, trainer.callback_metrics)
        for callback in trainer.checkpoint_callbacks if self._run is not None else ():
            for path in (callback.best_model_path, callback.last_model_path):
                written = _written(path)
                if written is not None and self._saved.get(path) != written:
                    self._saved[path] = written
                    self._run.checkpoint(step, path, metrics)


def _written(path):
    """When the file or folder was written last; None where there is none."""
    try:
        return os.stat(path).st_mtime_ns if path else None
    except OSError:
        return None
