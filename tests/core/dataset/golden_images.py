#!/usr/bin/env python3
"""Writes images/ and golden_images.json: small pictures of every kind and what Pillow makes of them.

Run again only to add a kind:  python3 golden_images.py   (Pillow >= 10, numpy)
"""
import io, json, struct, zlib
from pathlib import Path
import numpy as np
from PIL import Image, ImageOps

HERE = Path(__file__).resolve().parent
OUT = HERE / "images"
W, H = 17, 12


def scene(width=W, height=H):
    """A smooth picture with one hard edge: asymmetric, so that a wrong orientation shows."""
    y, x = np.mgrid[0:height, 0:width]
    rgb = np.stack([255 * x / (width - 1), 255 * y / (height - 1), 128 + 100 * np.sin(x / 4.0 + y / 7.0)], axis=2)
    rgb[height // 3 : height // 2, : width // 4] = (250, 20, 30)
    return Image.fromarray(rgb.round().astype(np.uint8), "RGB")


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def interlaced_png(image):
    a = np.asarray(image)
    raw = b""
    for x0, y0, dx, dy in [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]:
        part = a[y0::dy, x0::dx]
        if part.size:
            raw += b"".join(b"\0" + row.tobytes() for row in part)
    header = struct.pack(">IIBBBBB", image.width, image.height, 8, 2, 0, 0, 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")


def rgb16_png(image):
    a = np.asarray(image).astype(np.uint16) * 257
    raw = b"".join(b"\0" + row.astype(">u2").tobytes() for row in a)
    header = struct.pack(">IIBBBBB", image.width, image.height, 16, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")


def saved(image, fmt, **options):
    buffer = io.BytesIO()
    image.save(buffer, fmt, **options)
    return buffer.getvalue()


def exif(orientation):
    e = Image.Exif()
    e[0x0112] = orientation
    return e.tobytes()


def record(name, data, gray=False, pixels=None):
    (OUT / name).write_bytes(data)
    if pixels is None:
        image = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
        pixels = image.convert("L" if gray else "RGB")
    return {"file": name, "width": pixels.width, "height": pixels.height, "channels": 1 if gray else 3,
            "hex": pixels.tobytes().hex()}


def main():
    OUT.mkdir(exist_ok=True)
    rgb, gray = scene(), scene().convert("L")
    alpha = Image.fromarray(np.full((H, W), 90, np.uint8))
    files = []
    add = lambda *a, **k: files.append(record(*a, **k))
    add("rgb.png", saved(rgb, "PNG"))
    add("interlaced.png", interlaced_png(rgb), pixels=rgb)
    add("rgb16.png", rgb16_png(rgb), pixels=rgb)
    add("gray.png", saved(gray, "PNG"), gray=True)
    add("gray16.png", saved(Image.fromarray(np.asarray(gray).astype(np.uint16) * 257), "PNG"), gray=True, pixels=gray)
    bits = gray.point(lambda v: 255 if v > 127 else 0)
    add("gray1.png", saved(bits.convert("1", dither=0), "PNG"), gray=True)
    add("palette.png", saved(rgb.quantize(20), "PNG"))
    clear = rgb.quantize(20)
    add("palette_clear.png", saved(clear, "PNG", transparency=3), pixels=clear.convert("RGB"))
    rgba = rgb.copy(); rgba.putalpha(alpha)
    add("rgba.png", saved(rgba, "PNG"), pixels=rgb)
    la = gray.copy(); la.putalpha(alpha)
    add("gray_alpha.png", saved(la, "PNG"), gray=True, pixels=gray)
    add("exif6.png", saved(rgb, "PNG", exif=exif(6)))
    add("gray.jpg", saved(gray, "JPEG", quality=90), gray=True)
    add("444.jpg", saved(rgb, "JPEG", quality=90, subsampling=0))
    add("420.jpg", saved(rgb, "JPEG", quality=90, subsampling=2))
    add("progressive.jpg", saved(rgb, "JPEG", quality=90, progressive=True))
    add("cmyk.jpg", saved(rgb.convert("CMYK"), "JPEG", quality=95))
    for orientation in range(1, 9):
        add(f"exif{orientation}.jpg", saved(rgb, "JPEG", quality=90, subsampling=0, exif=exif(orientation)))

    big = scene(61, 37)
    resized = []
    for width, height in [(8, 8), (61, 10), (20, 37), (100, 50), (1, 1), (60, 36), (7, 90)]:
        out = big.resize((width, height), Image.BILINEAR)
        resized.append({"width": width, "height": height, "hex": out.tobytes().hex()})
    squares = []
    for side in (16, 37, 50):
        short = min(big.size)
        w, h = side * big.width // short, side * big.height // short
        left, top = (w - side) // 2, (h - side) // 2
        out = big.resize((w, h), Image.BILINEAR).crop((left, top, left + side, top + side))
        squares.append({"side": side, "hex": out.tobytes().hex()})
    json.dump({"files": files, "scene": {"width": 61, "height": 37, "hex": big.tobytes().hex(),
               "gray": big.convert("L").tobytes().hex()}, "resized": resized, "squares": squares},
              open(HERE / "golden_images.json", "w"), indent=0)


main()
