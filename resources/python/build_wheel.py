# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the wheel that `pip install` of this folder wants (PEP 517, PEP 660) with the standard library alone, so that it works
without a network and leaves nothing behind here. The version is lathe.py's."""

import ast
import base64
import hashlib
import os
import zipfile

NAME, SUMMARY, PYTHON = "lathe-client", "Shows what a training script logs in Lathe, live", ">=3.8"
MODULES = ("lathe", "lathe_torch", "lathe_lightning", "lathe_transformers")
HERE = os.path.dirname(os.path.abspath(__file__))


def _read(name):
    with open(os.path.join(HERE, name), "rb") as file:
        return file.read()


def _version():
    for line in ast.parse(_read("lathe.py")).body:
        if isinstance(line, ast.Assign) and getattr(line.targets[0], "id", "") == "__version__":
            return ast.literal_eval(line.value)
    raise RuntimeError("lathe.py has no __version__")


def _write(folder, files):
    """One wheel that holds these files (name to bytes) and its own description."""
    stem = "%s-%s" % (NAME.replace("-", "_"), _version())
    info = stem + ".dist-info/"
    metadata = "Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nLicense: GPL-3.0-or-later\nRequires-Python: %s\n"
    files = dict(files)
    files[info + "METADATA"] = (metadata % (NAME, _version(), SUMMARY, PYTHON)).encode()
    files[info + "WHEEL"] = b"Wheel-Version: 1.0\nGenerator: lathe\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += "%s,sha256=%s,%d\n" % (name, digest, len(data))
    files[info + "RECORD"] = (record + info + "RECORD,,\n").encode()
    wheel = stem + "-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _write(wheel_directory, {module + ".py": _read(module + ".py") for module in MODULES})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _write(wheel_directory, {"lathe_client.pth": (HERE + "\n").encode()})
