#!/usr/bin/env python3
"""Writes gpt.safetensors: forward and backward passes of a decoder written out in plain PyTorch, in double, and 50 updates in
single precision; one thread.

    python make_gpt_golden.py       (same environment as make_golden.py)

Parameters bear the names of Hugging Face's Llama. Attention is spelled out here (scores, mask, softmax), so that nothing is
shared with scaled_dot_product_attention; documents are kept apart by computing each one alone.
"""
import os

import torch
import torch.nn as nn
from safetensors.torch import save_file

from make_golden import HERE, made

SYMBOLS, WIDTH, HEADS, LAYERS, CONTEXT, ROWS = 24, 16, 2, 2, 12, 3
BOUNDARIES = [[5, 9], [], [1, 2, 11]]  # first bytes of further documents in each row


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5) * self.weight


def turned(x):
    """Rotary positions of [T, H, D]: channel i and i + D / 2 are the real and imaginary part of a number."""
    t, _, d = x.shape
    frequency = 10000.0 ** (-torch.arange(0, d, 2) / d)
    angle = torch.arange(t)[:, None] * frequency
    z = torch.complex(x[..., : d // 2], x[..., d // 2 :]) * torch.polar(torch.ones_like(angle), angle)[:, None]
    return torch.cat([z.real, z.imag], -1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, nn.Linear(WIDTH, WIDTH, bias=False))

    def forward(self, x):  # [T, W], one document
        q, k, v = (p(x).view(len(x), HEADS, -1) for p in (self.q_proj, self.k_proj, self.v_proj))
        q, k = turned(q), turned(k)
        scores = torch.einsum("thd,shd->hts", q, k) / (WIDTH // HEADS) ** 0.5
        scores = scores.masked_fill(torch.ones(len(x), len(x), dtype=torch.bool).triu(1), -torch.inf)
        return self.o_proj(torch.einsum("hts,shd->thd", scores.softmax(-1), v).reshape(len(x), WIDTH))


class FeedForward(nn.Module):
    def __init__(self, gates):
        super().__init__()
        inner = (8 * WIDTH // 3 + 15) // 16 * 16 if gates else 4 * WIDTH
        if gates:
            self.gate_proj = nn.Linear(WIDTH, inner, bias=False)
        self.up_proj = nn.Linear(WIDTH, inner, bias=False)
        self.down_proj = nn.Linear(inner, WIDTH, bias=False)
        self.gates = gates

    def forward(self, x):
        if self.gates:
            return self.down_proj(nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))
        return self.down_proj(nn.functional.gelu(self.up_proj(x)))


class Layer(nn.Module):
    def __init__(self, norm, gates):
        super().__init__()
        self.input_layernorm, self.self_attn = norm(WIDTH), Attention()
        self.post_attention_layernorm, self.mlp = norm(WIDTH), FeedForward(gates)

    def forward(self, x):
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class Gpt(nn.Module):
    def __init__(self, norm, gates, tied):
        super().__init__()
        self.model = nn.Module()
        self.model.embed_tokens = nn.Embedding(SYMBOLS, WIDTH)
        self.model.layers = nn.ModuleList(Layer(norm, gates) for _ in range(LAYERS))
        self.model.norm = norm(WIDTH)
        if not tied:
            self.lm_head = nn.Linear(WIDTH, SYMBOLS, bias=False)
        self.tied = tied

    def forward(self, tokens):  # [T], one document
        x = self.model.embed_tokens(tokens)
        for layer in self.model.layers:
            x = layer(x)
        x = self.model.norm(x)
        return x @ self.model.embed_tokens.weight.T if self.tied else self.lm_head(x)


def set_weights(net):
    with torch.no_grad():
        for name, p in net.named_parameters():
            values = made(name, p.shape)
            if p.dim() > 1:
                values = values * (2.0 * (p.numel() / p.shape[0]) ** -0.5 * 3.0**0.5)
            elif name.endswith("weight"):
                values = values * 0.5 + 1.0
            p.copy_(values)


def write(out, case, net, boundaries):
    set_weights(net)
    tokens = ((made("tokens", (ROWS, CONTEXT + 1)) + 0.5) * SYMBOLS).long()
    outputs, loss = [], 0.0
    for row, starts in zip(tokens, boundaries):
        edges = [0, *starts, CONTEXT]
        parts = []
        for begin, end in zip(edges, edges[1:]):
            logits = net(row[begin:end])
            parts.append(logits)
            known = end - begin if end == CONTEXT else end - begin - 1  # the last byte of a document foretells nothing
            if known > 0:
                loss = loss + nn.functional.cross_entropy(logits[:known], row[begin + 1 : begin + 1 + known], reduction="sum")
        outputs.append(torch.cat(parts))
    loss.backward()
    out[f"{case}/output"] = torch.stack(outputs).detach()
    out[f"{case}/loss"] = loss.detach()
    for name, p in net.named_parameters():
        out[f"{case}/gradient/{name}"] = p.grad


def train(out, case, net):
    """50 updates in single precision: losses, and norms before clipping to 1."""
    set_weights(net)
    net.float()
    params = list(net.parameters())
    optimizer = torch.optim.AdamW(params, lr=3e-3, weight_decay=1e-2, fused=True)
    losses, norms = [], []
    for k in range(50):
        tokens = ((made(f"tokens{k}", (ROWS, CONTEXT + 1)) + 0.5) * SYMBOLS).long()
        logits = torch.stack([net(row[:CONTEXT]) for row in tokens])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")
        optimizer.zero_grad()
        (loss / (ROWS * CONTEXT)).backward()
        losses.append(loss.item() / (ROWS * CONTEXT))
        norms.append(torch.nn.utils.clip_grad_norm_(params, 1.0).item())
        optimizer.step()
    out[f"{case}/losses"] = torch.tensor(losses, dtype=torch.float64)
    out[f"{case}/norms"] = torch.tensor(norms, dtype=torch.float64)


def main():
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    out = {}
    layer_norm = lambda width: nn.LayerNorm(width, eps=1e-5)
    write(out, "llama", Gpt(RMSNorm, True, True), [[], [], []])
    write(out, "packed", Gpt(RMSNorm, True, True), BOUNDARIES)
    write(out, "gpt2", Gpt(layer_norm, False, False), [[], [], []])
    torch.set_default_dtype(torch.float32)
    train(out, "trained", Gpt(RMSNorm, True, True))
    save_file(out, os.path.join(HERE, "gpt.safetensors"))


if __name__ == "__main__":
    main()
