"""Small trainings with the real libraries and Lathe's callbacks. Usage: play_callbacks.py CASE FOLDER; exit code 77 where the
library is not there. Every line that is told on standard output is what the library itself says it did."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "resources", "python"))


def tell(**facts):
    print(json.dumps(facts), flush=True)


def plain(folder):
    import torch
    from lathe_torch import Watch

    torch.manual_seed(1)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    inputs = torch.randn(64, 4)
    targets = inputs.sum(1, keepdim=True)
    losses, norms = [], []
    with Watch(model, optimizer, total_steps=50, checkpoints=os.path.join(folder, "checkpoints")) as watch:
        for step in range(50):
            loss = torch.nn.functional.mse_loss(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            norms.append(float(torch.nn.utils.clip_grad_norm_(model.parameters(), float("inf"))))
            optimizer.step()
            losses.append(float(loss))
            if watch.step(loss):
                break
        watch.evaluated(loss=losses[-1], accuracy=0.5)
        path = watch.save({"eval/loss": losses[-1]})
    tell(loss=losses, grad_norm=norms, checkpoint=path, steps=len(losses))


def lightning(folder):
    import torch
    import lightning.pytorch as pl
    from lathe_lightning import LatheCallback

    said = []

    class Module(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def training_step(self, batch, _):
            loss = torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])
            said.append(float(loss))
            self.log("train_loss", loss)
            return loss

        def validation_step(self, batch, _):
            loss = torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])
            self.log("val_loss", loss + 10 * self.current_epoch)  # the first epoch stays the best

        def configure_optimizers(self):
            return torch.optim.SGD([{"params": [self.layer.weight]}, {"params": [self.layer.bias], "lr": 0.01}], lr=0.05)

    torch.manual_seed(1)
    inputs = torch.randn(32, 4)
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs, inputs.sum(1, keepdim=True)), batch_size=8)
    trainer = pl.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False, log_every_n_steps=50,
                         default_root_dir=folder, callbacks=[LatheCallback(), pl.callbacks.ModelCheckpoint(dirpath=folder, monitor="val_loss")])
    module = Module()
    trainer.fit(module, data, data)
    best = trainer.checkpoint_callback.best_model_path
    tell(loss=said, checkpoint=best, steps=trainer.global_step, best_step=torch.load(best, weights_only=False)["global_step"])


def transformers(folder):
    import torch
    from transformers import PretrainedConfig, PreTrainedModel, Trainer, TrainingArguments
    from lathe_transformers import LatheCallback

    class Model(PreTrainedModel):
        config_class = PretrainedConfig

        def __init__(self, config):
            super().__init__(config)
            self.layer = torch.nn.Linear(4, 1)
            self.post_init()

        def forward(self, x=None, labels=None, **_):
            out = self.layer(x)
            return {"loss": torch.nn.functional.mse_loss(out, labels), "logits": out}

        def _init_weights(self, module):
            pass

    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return 32

        def __getitem__(self, index):
            x = torch.full((4,), index / 32.0)
            return {"x": x, "labels": x.sum().reshape(1)}

    torch.manual_seed(1)
    arguments = TrainingArguments(output_dir=folder, max_steps=12, per_device_train_batch_size=8, logging_steps=1, eval_strategy="steps", eval_steps=6,
                                  save_steps=6, report_to=[], use_cpu=True, disable_tqdm=True, learning_rate=0.05)
    os.makedirs(os.path.join(folder, "checkpoint-999"))  # of an earlier training in the same folder
    trainer = Trainer(model=Model(PretrainedConfig()), args=arguments, train_dataset=Data(), eval_dataset=Data(), callbacks=[LatheCallback()])
    trainer.train()
    history = trainer.state.log_history
    tell(loss=[row["loss"] for row in history if "loss" in row], eval_loss=[row["eval_loss"] for row in history if "eval_loss" in row],
         lr=[row["learning_rate"] for row in history if "learning_rate" in row], steps=trainer.state.global_step)


if __name__ == "__main__":
    try:
        __import__({"plain": "torch"}.get(sys.argv[1], sys.argv[1]))
    except ImportError as problem:
        print(problem, file=sys.stderr)
        sys.exit(77)
    globals()[sys.argv[1]](sys.argv[2])
