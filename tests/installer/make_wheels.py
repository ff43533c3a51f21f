"""A package index in a folder, for the real pip: small wheels under the names that the installer asks for.

    python3 make_wheels.py FOLDER good|wrong_hash|cut|large
"""
import hashlib
import pathlib
import sys
import zipfile

FILES = {
    ("torch", "2.11.0"): ["torch/lib/libtorch_cpu.so", "torch/lib/libtorch_cuda.so", "torch/lib/libc10.so", "torch/include/ATen/core/Tensor.h"],
    ("nvidia_cuda_runtime", "13.0.96"): ["nvidia/cu13/lib/libcudart.so.13"],
    ("nvidia_cuda_cupti", "13.0.85"): ["nvidia/cu13/lib/libcupti.so.13"],
}

folder, kind = pathlib.Path(sys.argv[1]), sys.argv[2]
for (name, version), files in FILES.items():
    page = folder / name.replace("_", "-")
    page.mkdir(parents=True)
    wheel = page / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.writestr(file, b"\0" * (64 << 20) if kind == "large" and "cpu" in file else b"library")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "".join(f"{file},,\n" for file in [*files, f"{info}/METADATA", f"{info}/WHEEL", f"{info}/RECORD"]))
    if kind == "cut" and name == "torch":
        wheel.write_bytes(wheel.read_bytes()[:-40])
    digest = hashlib.sha256(b"another" if kind == "wrong_hash" and name == "torch" else wheel.read_bytes()).hexdigest()
    (page / "index.html").write_text(f'<a href="{wheel.name}#sha256={digest}">{wheel.name}</a>\n')
