"""Loads what Lathe exported: weights, class names, preprocessing. Needs numpy and safetensors; PyTorch only for torch_state().

    from load import load
    model = load(".")
    inputs = model.prepare(pictures)        # pictures: uint8, N x height x width (x channels); or rows of features
    print(model.classify(inputs))           # class names, or predict(inputs) for the plain outputs
    print(model.generate("ROMEO:", 300))    # of a model of text

As a program: python load.py INPUTS.npy prints one line an input; of a model of text, python load.py PROMPT prints what follows.
"""
import json
import math
import pathlib
import sys

try:
    import numpy as np
    from numpy.lib.stride_tricks import sliding_window_view
    from safetensors.numpy import load_file
except ImportError as problem:
    need = f"This loader needs numpy and safetensors, and {problem.name} is not there: pip install numpy safetensors"
    if __name__ == "__main__":
        sys.exit(need)
    raise ImportError(need) from problem

RESNETS = {"resnet18": (False, (2, 2, 2, 2)), "resnet34": (False, (3, 4, 6, 3)), "resnet50": (True, (3, 4, 6, 3)),
           "resnet101": (True, (3, 4, 23, 3)), "resnet152": (True, (3, 8, 36, 3))}


def load(folder="."):
    """The exported model in a folder."""
    return Exported(pathlib.Path(folder))


class Exported:
    def __init__(self, folder):
        self.weights = load_file(str(folder / "model.safetensors"))
        self.classes = json.loads((folder / "classes.json").read_text(encoding="utf-8"))
        self.preprocessing = json.loads((folder / "preprocessing.json").read_text(encoding="utf-8"))
        self.model = json.loads((folder / "model.json").read_text(encoding="utf-8"))

    def prepare(self, values):
        """Raw inputs as the model was trained on them: N x C x H x W, or N x features."""
        rule = self.preprocessing
        if rule.get("context"):  # texts or rows of bytes, all of one length
            rows = [list(v.encode() if isinstance(v, str) else v) for v in values]
            return np.array(rows, dtype=np.int64)
        values = np.asarray(values)
        if not rule["images"]:
            values = values.astype(np.float64)
            if rule["mean"]:
                values = (values - np.array(rule["mean"])) / np.array(rule["deviation"])
            return values
        if values.ndim == 3:
            values = values[..., None]
        shape = (rule["height"], rule["width"], rule["channels"])
        if values.shape[1:] != shape:
            raise ValueError(f"pictures must be {shape[0]} x {shape[1]} x {shape[2]}, these are {values.shape[1:]}")
        values = values.transpose(0, 3, 1, 2).astype(np.float64) / 255
        if rule["mean"]:
            values = (values - np.array(rule["mean"])[:, None, None]) / np.array(rule["deviation"])[:, None, None]
        return values

    def predict(self, inputs):
        """Outputs for prepared inputs: one row each (logits of the classes, or the targets; of a text those of each next byte)."""
        name = self.model["name"]
        if name == "gpt":
            return self._gpt(np.asarray(inputs))
        x = np.asarray(inputs, dtype=np.float64)
        if name == "linear":
            return self._linear(x.reshape(len(x), -1), "")
        if name == "mlp":
            return self._mlp(x.reshape(len(x), -1))
        return self._convnet(x) if name == "convnet" else self._resnet(x, *RESNETS[name])

    def classify(self, inputs):
        return [self.classes[i] for i in self.predict(inputs).argmax(axis=1)]

    def generate(self, prompt, length=200, temperature=0.8, seed=0):
        """A text of so many bytes that goes on from the prompt; temperature 0 takes the likeliest byte each time."""
        draw = np.random.default_rng(seed)
        text = list((prompt or "\n").encode())
        for _ in range(length):
            logits = self._gpt(np.array([text[-self.preprocessing["context"]:]]))[0, -1]
            if temperature == 0:
                text.append(int(logits.argmax()))
                continue
            chances = np.exp((logits - logits.max()) / temperature)
            text.append(int(draw.choice(256, p=chances / chances.sum())))
        return bytes(text).decode(errors="replace")

    def torch_state(self):
        """The weights for load_state_dict()."""
        import torch
        return {name: torch.from_numpy(np.array(value)) for name, value in self.weights.items()}

    def _w(self, name):
        return self.weights[name].astype(np.float64)

    def _linear(self, x, prefix):
        return x @ self._w(prefix + "weight").T + self._w(prefix + "bias")

    def _mlp(self, x):
        last = 2 * self.model["hidden_layers"]
        for layer in range(0, last, 2):
            x = np.maximum(self._linear(x, f"{layer}."), 0)
        return self._linear(x, f"{last}.")

    def _convnet(self, x):
        stage = 1
        while f"conv{stage}.weight" in self.weights:
            pool = x.shape[2] >= 4 and x.shape[3] >= 4
            x = self._conv(x, f"conv{stage}.", pad=1)
            if f"bn{stage}.weight" in self.weights:
                x = self._norm(x, f"bn{stage}.")
            x = np.maximum(x, 0)
            x = _max_pool(x, 2, 2, 0) if pool else x
            stage += 1
        return self._linear(x.reshape(len(x), -1), "fc.")

    def _resnet(self, x, bottleneck, blocks):
        small = self.model["stem"] == "small"
        x = np.maximum(self._norm(self._conv(x, "conv1.", 1 if small else 2, 1 if small else 3), "bn1."), 0)
        x = x if small else _max_pool(x, 3, 2, 1)
        for stage, count in enumerate(blocks):
            for block in range(count):
                x = self._residual(x, f"layer{stage + 1}.{block}.", 2 if stage > 0 and block == 0 else 1, bottleneck)
        return self._linear(x.mean(axis=(2, 3)), "fc.")

    def _residual(self, x, prefix, stride, bottleneck):
        strides = (1, stride, 1) if bottleneck else (stride, 1)
        y = x
        for number, step in enumerate(strides, start=1):
            side = self.weights[f"{prefix}conv{number}.weight"].shape[2]
            y = self._norm(self._conv(y, f"{prefix}conv{number}.", step, side // 2), f"{prefix}bn{number}.")
            if number < len(strides):
                y = np.maximum(y, 0)
        if f"{prefix}downsample.0.weight" in self.weights:
            x = self._norm(self._conv(x, f"{prefix}downsample.0.", stride), f"{prefix}downsample.1.")
        return np.maximum(x + y, 0)

    def _gpt(self, tokens):
        x = self._w("model.embed_tokens.weight")[tokens]
        layer = 0
        while f"model.layers.{layer}.self_attn.q_proj.weight" in self.weights:
            prefix = f"model.layers.{layer}."
            x = x + self._attention(self._text_norm(x, prefix + "input_layernorm."), prefix + "self_attn.")
            x = x + self._feed_forward(self._text_norm(x, prefix + "post_attention_layernorm."), prefix + "mlp.")
            layer += 1
        head = "lm_head.weight" if "lm_head.weight" in self.weights else "model.embed_tokens.weight"
        return self._text_norm(x, "model.norm.") @ self._w(head).T

    def _text_norm(self, x, prefix):
        if prefix + "bias" in self.weights:
            x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5) * self._w(prefix + "weight")
        return x + self._w(prefix + "bias") if prefix + "bias" in self.weights else x

    def _attention(self, x, prefix):
        n, length, width = x.shape
        heads = self.model["heads"]
        q, k, v = ((x @ self._w(f"{prefix}{part}_proj.weight").T).reshape(n, length, heads, -1).transpose(0, 2, 1, 3) for part in "qkv")
        half = width // heads // 2
        angle = np.arange(length)[:, None] * 10000.0 ** (-np.arange(half) / half)
        cosine, sine = np.cos(angle), np.sin(angle)
        q, k = (np.concatenate([y[..., :half] * cosine - y[..., half:] * sine, y[..., half:] * cosine + y[..., :half] * sine], axis=-1) for y in (q, k))
        scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(2 * half)
        scores = np.where(np.tril(np.ones((length, length), dtype=bool)), scores, -np.inf)
        chances = np.exp(scores - scores.max(axis=-1, keepdims=True))
        seen = chances / chances.sum(axis=-1, keepdims=True) @ v
        return seen.transpose(0, 2, 1, 3).reshape(n, length, width) @ self._w(prefix + "o_proj.weight").T

    def _feed_forward(self, x, prefix):
        up = x @ self._w(prefix + "up_proj.weight").T
        if prefix + "gate_proj.weight" in self.weights:
            gate = x @ self._w(prefix + "gate_proj.weight").T
            up = gate / (1 + np.exp(-gate)) * up
        else:
            up = 0.5 * up * (1 + np.vectorize(math.erf)(up / np.sqrt(2)))
        return up @ self._w(prefix + "down_proj.weight").T

    def _conv(self, x, prefix, stride=1, pad=0):
        weight = self._w(prefix + "weight")
        x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        parts = sliding_window_view(x, weight.shape[2:], axis=(2, 3))[:, :, ::stride, ::stride]
        y = np.tensordot(parts, weight, axes=((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)
        return y + self._w(prefix + "bias")[:, None, None] if prefix + "bias" in self.weights else y

    def _norm(self, x, prefix):
        scale = self._w(prefix + "weight") / np.sqrt(self._w(prefix + "running_var") + 1e-5)
        shift = self._w(prefix + "bias") - self._w(prefix + "running_mean") * scale
        return x * scale[:, None, None] + shift[:, None, None]


def _max_pool(x, side, stride, pad):
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)), constant_values=-np.inf)
    return sliding_window_view(x, (side, side), axis=(2, 3))[:, :, ::stride, ::stride].max(axis=(4, 5))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    model = load(pathlib.Path(__file__).parent)
    if model.preprocessing.get("context"):
        print(model.generate(sys.argv[1]))
        return
    try:
        values = np.load(sys.argv[1], allow_pickle=False)
    except (OSError, ValueError, EOFError) as problem:
        sys.exit(f"{sys.argv[1]} cannot be read as .npy (write it with numpy.save): {problem}")
    inputs = model.prepare(values)
    for row in model.classify(inputs) if model.classes else model.predict(inputs).tolist():
        print(row)


if __name__ == "__main__":
    main()
