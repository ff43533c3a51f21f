# SPDX-License-Identifier: GPL-3.0-or-later
"""The Hugging Face Trainer shows up in Lathe: Trainer(..., callbacks=[LatheCallback()]).

What the Trainer logs and evaluates is recorded at its global step; its checkpoints are registered with the newest evaluation;
"save" in Lathe makes it save, "stop" makes it save and leave.
"""

import os

from transformers import TrainerCallback

import lathe

__all__ = ["LatheCallback"]


class LatheCallback(TrainerCallback):
    """name and workspace are for a run that this callback starts (lathe.init)."""

    def __init__(self, name=None, workspace=None):
        self._name, self._workspace = name, workspace
        self._run = None
        self._evaluated = {}

    def on_train_begin(self, args, state, control, **_):
        if state.is_world_process_zero:
            self._run = lathe.init(name=self._name, workspace=self._workspace, total_steps=state.max_steps)

    def on_log(self, args, state, control, logs=None, **_):
        if self._run is not None and logs:
            self._run.log(state.global_step, {name: value for name, value in logs.items() if isinstance(value, (int, float))})

    def on_evaluate(self, args, state, control, metrics=None, **_):
        self._evaluated = {name: value for name, value in (metrics or {}).items() if isinstance(value, (int, float))}

    def on_step_end(self, args, state, control, **_):
        if self._run is None:
            return control
        if self._run.save_requested():
            control.should_save = True
        if self._run.should_stop():
            control.should_save = control.should_training_stop = True
        return control

    def on_save(self, args, state, control, **_):
        if self._run is None:
            return
        path = os.path.join(args.output_dir, "checkpoint-%d" % state.global_step)
        self._run.checkpoint(state.global_step, path, self._evaluated)
