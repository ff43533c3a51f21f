# SPDX-License-Identifier: GPL-3.0-or-later
"""Shows what a script logs in Lathe, live. One file, the standard library only, Python 3.8 or later.

    import lathe

    run = lathe.init(total_steps=1000)
    for step in range(1000):
        ...
        run.log(step, loss=loss, lr=lr)
        if run.save_requested():
            torch.save(model.state_dict(), path)
            run.checkpoint(step, path, {"eval/loss": best})
        if run.should_stop():
            break

Under ``lathe-trainer run --command`` the script's run is there already. By itself ``init`` starts a recorder
(``lathe-trainer record``, found by LATHE_TRAINER or on PATH) and the run appears in the workspace. Without either, one
line says so and every call does nothing.

The script never waits: ``log`` puts its values into a queue that a thread sends on. What does not fit is dropped, counted
to the message, and told to the recorder. A value that is no float yet (a tensor, say) is converted in the call, so that it
is the value of that moment. What cannot be recorded (a text as a value, say) is left out: once for each cause a warning says
so, here and in the run, and at the end how often it was. After a fork the child has a connection of its own from its first
call on.

The protocol is described in core/live/FORMAT.md.
"""

import atexit
import collections
import functools
import json
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
import zlib

__all__ = ["init", "current", "learning_rates", "Run"]
__version__ = "1"

_VERSION = 1
_MAGIC = b"LATHEPRG"
_SERIES, _POINTS, _EVENT, _TABLE, _HISTOGRAM, _TEXT, _IMAGE, _SUMMARY, _CHECKPOINT = range(1, 10)
_HELLO, _SAVED, _TOTAL, _GOODBYE, _LISTENS, _WELCOME, _REFUSED, _WISHES, _TAKEN = 16, 17, 18, 19, 20, 32, 33, 34, 35
_HEADER = struct.Struct("<IHHQ")
_PLACE = struct.Struct("<qq")
_MOST_BODY = 16 << 20
_MOST_STEP = (1 << 63) - 1
_MOST_SERIES = 65535
_MOST_CAUSES = 100          # why something is left out, told one by one
_MOST_REFUSALS = 20         # of connections that stood

_QUEUE = 1 << 16            # entries that wait for the thread
_QUEUE_BYTES = 64 << 20     # of tables, pictures and the like among them
_UNTAKEN_BYTES = 8 << 20    # sent and not acknowledged: beyond it the queue fills
_AT_ONCE = 4096             # entries encoded between two looks at the socket
_ACTIVE_SECONDS, _IDLE_SECONDS = 0.01, 0.25
_EXIT_SECONDS = 5.0
_ANSWER_SECONDS = 10.0


def _warn(text):
    try:
        sys.stderr.write("lathe: " + text + "\n")
    except Exception:  # a script without standard error goes on all the same
        pass


def _text(value):
    data = value.encode("utf-8", "replace")
    return struct.pack("<I", len(data)) + data


def _shown(value):
    try:
        return "%.40r" % (value,)
    except Exception:
        return "of type " + type(value).__name__


def _number(value):
    try:
        return float(value.detach() if hasattr(value, "detach") else value)
    except Exception:
        return None


def _why_no_number(value):
    if value is None:
        return "None is not a number"
    if isinstance(value, int):
        return "a whole number is too large for a float"
    return "a value of type %s is not a number" % type(value).__name__


def learning_rates(*optimizers):
    """The rates of PyTorch optimizers by the names of their series: "lr", then "train/lr/1" and so on, over all of their groups."""
    rates = [group["lr"] for optimizer in optimizers for group in optimizer.param_groups]
    return {"lr" if number == 0 else "train/lr/%d" % number: rate for number, rate in enumerate(rates)}


class _Refused(Exception):
    """The supervisor answered, and does not want us."""


class _Connection:
    """A socket that notices when the script has closed, or closed and reused, its descriptor."""

    def __init__(self, path, token, identity, program):
        self._socket = _connect_to(path)
        self._inode = os.fstat(self._socket.fileno()).st_ino
        self._input = b""
        body = _MAGIC + struct.pack("<I", _VERSION) + _text(token) + _text(identity) + _text(program)
        self._socket.settimeout(_ANSWER_SECONDS)
        try:
            self._socket.sendall(_HEADER.pack(len(body), _HELLO, 0, 0) + body)
        except OSError:
            pass  # closed already: what was said before tells why
        kind, body = self._first_message()
        if kind == _REFUSED:
            raise _Refused(body[4:].decode("utf-8", "replace"))
        if kind != _WELCOME:
            raise _Refused("something else than a recorder answered")
        self.taken = struct.unpack_from("<Q", body, 4)[0]
        self._socket.setblocking(False)

    def _first_message(self):
        while True:
            for kind, body in self._messages():
                return kind, body
            data = self._socket.recv(65536)
            if not data:
                raise OSError("the connection was closed")
            self._input += data

    def _messages(self):
        while len(self._input) >= _HEADER.size:
            size, kind, _, _ = _HEADER.unpack_from(self._input)
            end = _HEADER.size + size
            if len(self._input) < end:
                return
            body, self._input = self._input[_HEADER.size:end], self._input[end:]
            yield kind, body

    def _is_ours(self):
        try:
            return os.fstat(self._socket.fileno()).st_ino == self._inode
        except (OSError, ValueError):
            return False

    def send(self, data):
        """Bytes that went out, 0 when there is no room now. OSError when the connection is over."""
        if not self._is_ours():
            raise OSError("the descriptor was closed")
        try:
            return self._socket.send(data)
        except (BlockingIOError, InterruptedError):
            return 0

    def receive(self):
        """Messages that have come, without waiting. OSError when the connection is over."""
        if not self._is_ours():
            raise OSError("the descriptor was closed")
        try:
            data = self._socket.recv(65536)
        except (BlockingIOError, InterruptedError):
            return []
        if not data:
            raise OSError("the connection was closed")
        self._input += data
        return list(self._messages())

    def last_words(self):
        """Messages that came before the connection ended."""
        try:
            return self.receive()
        except OSError:
            return []

    def wait_writable(self, seconds):
        poller = select.poll()
        poller.register(self._socket.fileno(), select.POLLOUT)
        poller.poll(int(seconds * 1000))

    def close(self):
        if self._is_ours():
            self._socket.close()
        else:
            self._socket.detach()  # the number may belong to the script by now


def _connect_to(path):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    folder = -1
    try:
        connection.settimeout(_ANSWER_SECONDS)
        if len(os.fsencode(path)) > 107:
            folder = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            path = "/proc/self/fd/%d/%s" % (folder, os.path.basename(path))
        connection.connect(path)
        return connection
    except BaseException:
        connection.close()
        raise
    finally:
        if folder >= 0:
            os.close(folder)


def _harmless(method):
    """A recording call: does nothing where nobody records, and what is wrong with its data is a warning, not an exception."""
    @functools.wraps(method)
    def call(self, *arguments, **more):
        if (self._off or self._pid is not _PID) and not self._revive():
            return
        try:
            method(self, *arguments, **more)
        except Exception as problem:
            self._leave_out(method.__name__, "%s: %.200s" % (type(problem).__name__, problem))
    return call


class Run:
    """A run that is being recorded. Made by init(). Every method may be called from any thread and returns at once; none raises
    for what it is given to record."""

    def __init__(self, path, token, note=None):
        self._path, self._token = path, token
        self._off = note is not None      # nobody records: every call does nothing
        self._ended = False
        self._failure = None              # what nobody caught: (type, sentence)
        self._environment = ()            # variables that were set for what this script starts
        self._step = -1
        self._reset()
        if self._off:
            if note:
                _warn(note)
            return
        try:
            self._connection = self._connect()
        except (OSError, _Refused, struct.error) as problem:
            self._off = True
            _warn("this script is not recorded: %s" % problem)
            return
        self._start()

    # ---- what a script calls

    @property
    def is_recorded(self):
        """Whether somebody takes what is logged."""
        return not self._off

    def log(self, step=None, values=None, /, **scalars):
        """Values of one step: run.log(10, loss=0.5) or run.log(10, {"eval/loss": 0.5}). Without a step, as in
        run.log({"loss": 0.5}): one more than before."""
        if (self._off or self._pid is not _PID) and not self._revive():
            return
        if values is None and isinstance(step, dict):
            step, values = None, step
        if values is not None:
            try:
                scalars = dict(values, **scalars)
            except Exception:
                return self._leave_out("log(step, %s)" % _shown(values), "values are given by name: log(step, loss=0.5)")
        if step is None:
            step = self._step + 1
        if step.__class__ is not int or not -_MOST_STEP <= step <= _MOST_STEP:
            step = self._whole(step)
        self._step = step
        for name, value in scalars.items():
            if value.__class__ is not float:
                number = scalars[name] = _number(value)
                if number is None:
                    self._leave_out(name, _why_no_number(value))
        if len(self._queue) >= _QUEUE:
            self._drop()
            return
        self._queue.append((step, time.time_ns(), scalars))
        if self._idle:
            self._wake.set()

    @_harmless
    def text(self, step, name, text):
        """A text under a name: generated samples, a summary of the model."""
        self._record(_TEXT, step, name, "", str(text).encode("utf-8", "replace"))

    @_harmless
    def table(self, step, name, columns, rows):
        """A table: names of columns, and rows of text, numbers, booleans or None."""
        content = {"columns": [str(column) for column in columns], "rows": [[_cell(value) for value in row] for row in rows]}
        for number, row in enumerate(content["rows"]):
            if len(row) != len(content["columns"]):
                raise ValueError("row %d of \"%s\" has %d cells, and there are %d columns" % (number, name, len(row), len(content["columns"])))
        self._record(_TABLE, step, name, "", json.dumps(content).encode())

    @_harmless
    def histogram(self, step, name, values=None, bins=64, *, edges=None, counts=None):
        """How values (any numbers; a tensor or array is flattened) are distributed, or counts between edges as they are. Values
        that are not finite fall into no bin: a warning says so."""
        odd = 0
        if edges is None or counts is None:
            edges, counts, odd = _binned(values, bins)
        edges, counts = [float(edge) for edge in edges], [float(count) for count in counts]
        if len(edges) != len(counts) + 1:
            raise ValueError("a histogram has one edge more than counts")
        if any(number - number != 0 for number in edges + counts):
            raise ValueError("edges and counts of a histogram are finite numbers")
        if odd:
            self._tell_once("\"%s\"" % str(name)[:80], "is a histogram without some of its values", "%d at step %s are nan or inf" % (odd, _shown(step)), "nan or inf")
        self._record(_HISTOGRAM, step, name, "", struct.pack("<I%dd" % (len(edges) + len(counts)), len(counts), *edges, *counts))

    @_harmless
    def image(self, step, name, image):
        """A picture: the path or the bytes of a PNG or JPEG file, or an array (height, width[, 1, 3 or 4]) of 0…255 or 0.0…1.0."""
        data = _image_bytes(image)
        self._record(_IMAGE, step, name, "image/jpeg" if data[:2] == b"\xff\xd8" else "image/png", data)

    @_harmless
    def summary(self, values=None, /, **more):
        """Values of the whole run, shown beside its settings; the newest of a name counts."""
        for name, value in dict(values or {}, **more).items():
            self._record(_SUMMARY, None, name, "", json.dumps(_cell(value)).encode())

    @_harmless
    def checkpoint(self, step, path, metrics=None):
        """Tells of a checkpoint (file or folder) that the script has written and keeps itself: one that is not there is none."""
        path = os.path.abspath(os.fsdecode(path))
        if not os.path.exists(path):
            raise FileNotFoundError("there is no file or folder %s; call this once it is written" % path)
        content = {"path": path, "bytes": _size_of(path), "metrics": {str(k): repr(_number(v)) for k, v in (metrics or {}).items()}}
        try:
            content = json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogateescape")  # the path's own bytes
        except UnicodeEncodeError:
            content = json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")
        self._record(_CHECKPOINT, step, path, "", content)
        if self._saves_seen:
            self._send(_SAVED, struct.pack("<q", self._saves_seen))

    @_harmless
    def note(self, text, kind="note"):
        """A sentence in the run's log; kind "warning" or "error" marks it as such."""
        self._send(_EVENT, self._place(None) + _text(kind) + _text(str(text)) + _text(""))

    @_harmless
    def set_total_steps(self, total):
        """How many steps are planned: progress and time left come from it."""
        self._send(_TOTAL, struct.pack("<q", int(total or 0)))

    def should_stop(self):
        """Whether somebody asked the run to stop: save what is to be kept, and leave the loop."""
        self._listen(1)
        return self._stop != 0

    def save_requested(self):
        """True once for each time somebody asked to save now."""
        self._listen(2)
        if self._saves_asked <= self._saves_seen:
            return False
        self._saves_seen = self._saves_asked
        return True

    def _listen(self, wish):
        """Tells the recorder, once, that this script heeds the wish: only then is it waited for."""
        if self._off or (self._pid is not _PID and not self._revive()):
            return
        if not self._listens & wish and self._send(_LISTENS, struct.pack("<B", wish)):
            self._listens |= wish

    def finish(self, failed=False, why="", timeout=_EXIT_SECONDS, stopped=False):
        """Sends what is left, for at most `timeout` seconds, and ends the recording. Called at exit by itself."""
        if self._ended or self._pid is not _PID:
            return
        self._ended = True
        if not self._off:
            self._goodbye = (1 if failed else 2 if stopped or self._stop else 0, why)
            self._wake.set()
            self._thread.join(timeout)
        self._off = True
        if self._causes:
            _warn(self._left_out_in_all())
        if self.missing() > self._left_out:
            _warn("%d messages of this script were not recorded" % (self.missing() - self._left_out))
        _forget(self)

    def missing(self):
        """What was logged and is not recorded, or not known to be safe yet: messages, and values that were left out."""
        return self._left_out + self._dropped + len(self._queue) + self._encoded - self._arrived

    # ---- queueing

    def _reset(self):
        """Everything that belongs to one process."""
        self._pid = _PID
        self._queue = collections.deque()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._idle = False
        self._queued_bytes = 0
        self._dropped = self._dropped_told = 0   # messages that did not fit, and those of them that have a number
        self._thread = None
        self._connection = None
        self._identity = os.urandom(16).hex()
        self._numbered = 0                   # number of the newest message
        self._taken = 0                      # … and of the newest one that the supervisor has
        self._encoded = self._arrived = 0    # messages
        self._chunks = collections.deque()   # (last number, messages, bytes), those not acknowledged
        self._chunk_bytes = 0
        self._sent_chunks = self._sent_bytes = 0
        self._ids, self._formats = {}, {}
        self._causes = {}                    # (what, why) that something was left out for, and how often
        self._left_out = 0
        self._refusals = 0
        self._goodbye = None
        self._stop = 0
        self._saves_asked = self._saves_seen = 0
        self._listens = 0                    # wishes that the recorder knows to be heeded
        self._first_wishes = True

    def _start(self):
        self._thread = threading.Thread(target=self._work, name="lathe", daemon=True)
        self._thread.start()

    def _connect(self):
        program = "python %d.%d, lathe.py %s" % (sys.version_info[0], sys.version_info[1], __version__)
        return _Connection(self._path, self._token, self._identity, program)

    def _revive(self):
        """False when nobody records. In a forked child: a connection of its own, the parent's is left alone."""
        if self._pid is not _PID and not self._ended and not self._off:
            with _LOCK:
                if self._pid is not _PID:
                    copy = self._connection    # of the parent's; closed last, so that the run never looks deserted
                    self._reset()
                    try:
                        self._connection = self._connect()
                        self._start()
                        self._finish_with_process()
                    except (OSError, _Refused, struct.error):
                        self._off = True
                    if copy is not None:
                        copy.close()
        if self._off and self._thread is not None:
            self._drop()
        return not self._off

    def _finish_with_process(self):
        """A child of multiprocessing leaves without atexit, by the finalizers of its own module."""
        util = sys.modules.get("multiprocessing.util")
        if util is not None:
            util.Finalize(None, self._finish_as_it_stands, exitpriority=-100)

    def _record(self, kind, step, name, form, content):
        if len(content) > _MOST_BODY - 65536:
            self._leave_out(name, "it has %d MB, more than a message may have" % (len(content) >> 20))
            return
        self._send(kind, self._place(step) + _text(str(name)[:65536]) + _text(form) + struct.pack("<I", len(content)) + content)

    def _send(self, kind, body):
        with self._lock:
            fits = len(self._queue) < _QUEUE and self._queued_bytes + len(body) <= _QUEUE_BYTES
            if fits:
                self._queued_bytes += len(body)
        if not fits:
            self._drop()
            return False
        self._queue.append((kind, body))
        if self._idle:
            self._wake.set()
        return True

    def _place(self, step):
        return _PLACE.pack(max(self._step, 0) if step is None else self._whole(step), time.time_ns())

    def _whole(self, step):
        try:
            whole = int(step)
        except Exception:
            whole = None
        if whole is not None and -_MOST_STEP <= whole <= _MOST_STEP:
            return whole
        self._tell_once("a step", "is replaced by the step before", "%s is not a whole number of 64 bits" % _shown(step), "a step that is not a whole number")
        return min(max(self._step, 0), _MOST_STEP)

    def _leave_out(self, what, why):
        """Something that cannot be recorded: counted, and told once for each cause, here and in the run."""
        if self._off:
            return
        try:
            what = str(what)[:80]
        except Exception:
            what = "a name"
        with self._lock:
            self._left_out += 1
        self._tell_once("\"%s\"" % what, "is not recorded", why)

    def _tell_once(self, what, fate, why, cause=None):
        cause = (what, cause or why)
        with self._lock:
            if cause not in self._causes and len(self._causes) >= _MOST_CAUSES:
                cause = ("other things", "there were too many causes to tell them one by one")
                what, fate, why = cause[0], "are left out as well", cause[1]
            self._causes[cause] = self._causes.get(cause, 0) + 1
            first = self._causes[cause] == 1
        if first:
            sentence = "%s %s: %s" % (what, fate, why)
            _warn(sentence)
            self._send(_EVENT, self._warning(sentence))

    def _warning(self, sentence):
        return _PLACE.pack(max(self._step, 0), time.time_ns()) + _text("warning") + _text(sentence) + _text("")

    def _left_out_in_all(self):
        causes = sorted(self._causes.items(), key=lambda one: -one[1])[:20]
        return "Left out or replaced in all: " + "; ".join("%s (%s): %d" % (*cause, times) for cause, times in causes)

    def _drop(self):
        with self._lock:
            self._dropped += 1

    def _number_dropped(self):
        """A message that was dropped keeps its number: the recorder counts the gap."""
        with self._lock:
            self._numbered += self._dropped - self._dropped_told
            self._dropped_told = self._dropped

    # ---- the thread

    def _work(self):
        try:
            while self._connection is not None:
                moved = self._turn()
                if self._goodbye is not None:
                    if self._leave():
                        break
                    continue
                if moved:
                    self._wake.wait(_ACTIVE_SECONDS)  # in a fast loop many values go out at once
                else:
                    self._idle = True
                    if not self._queue:
                        self._wake.wait(_IDLE_SECONDS)
                    self._idle = False
                self._wake.clear()
        except Exception as problem:  # nothing that goes wrong in here may reach the script
            self._give_up("of a fault in lathe.py (%r)" % problem)

    def _turn(self):
        """Encodes, sends and receives what there is. True when anything went out."""
        moved = False
        try:
            while self._queue and self._chunk_bytes < _UNTAKEN_BYTES:
                self._encode()
                if not self._send_chunks():
                    break
                moved = True
            moved = self._send_chunks() or moved
            for kind, body in self._connection.receive():
                self._take(kind, body)
        except OSError:
            self._connect_again()
        return moved

    def _encode(self):
        """The next entries of the queue as one chunk."""
        out = []
        self._number_dropped()
        number = before = self._numbered
        popleft = self._queue.popleft
        for _ in range(min(len(self._queue), _AT_ONCE)):
            entry = popleft()
            if len(entry) == 2:
                kind, body = entry
                with self._lock:
                    self._queued_bytes -= len(body)
                number += 1
                out.append(_HEADER.pack(len(body), kind, 0, number))
                out.append(body)
                continue
            step, wall, scalars = entry
            names = tuple(scalars)
            form = self._formats.get(names)
            if form is None or None in scalars.values():
                number = self._name(scalars, names, number, out)
                names = tuple(scalars)
                form = self._formats[names]
            number += 1
            packed, size, ids = form
            fields = [size, _POINTS, 0, number, 0, wall, len(ids)]
            try:
                fields[4] = step
                for identity, value in zip(ids, scalars.values()):
                    fields.append(identity)
                    fields.append(value)
                out.append(packed.pack(*fields))
            except Exception as problem:
                number -= 1
                self._leave_out("step %s" % _shown(step), str(problem))
        self._numbered = number
        self._add_chunk(number - before, b"".join(out))

    def _add_chunk(self, messages, data):
        self._encoded += messages
        self._chunks.append((self._numbered, messages, data))
        self._chunk_bytes += len(data)

    def _add_message(self, kind, body):
        self._number_dropped()
        self._numbered += 1
        self._add_chunk(1, _HEADER.pack(len(body), kind, 0, self._numbered) + body)

    def _name(self, scalars, names, number, out):
        """Declares what is new among the names, and leaves out what is no number. Returns the last message's number."""
        for name in names:
            if scalars[name] is None:
                del scalars[name]  # which log() has told
            elif name not in self._ids and len(self._ids) < _MOST_SERIES:
                try:
                    word = str(name)[:65536]
                except Exception as problem:
                    del scalars[name]
                    self._leave_out("a name", repr(problem)[:200])
                    continue
                self._ids[name] = len(self._ids)
                body = struct.pack("<H", self._ids[name]) + _text(word) + _text("")
                number += 1
                out.append(_HEADER.pack(len(body), _SERIES, 0, number))
                out.append(body)
            elif name not in self._ids:
                del scalars[name]
                self._leave_out("a series", "a run has at most %d" % _MOST_SERIES)
        names = tuple(scalars)
        if names not in self._formats:
            if len(self._formats) > 4096:
                self._formats.clear()
            packed = struct.Struct("<IHHQqqH" + "Hd" * len(names))
            self._formats[names] = (packed, packed.size - _HEADER.size, [self._ids[name] for name in names])
        return number

    def _send_chunks(self):
        """Sends what fits. True when everything that is encoded is out."""
        while self._sent_chunks < len(self._chunks):
            data = self._chunks[self._sent_chunks][2]
            sent = self._connection.send(memoryview(data)[self._sent_bytes:])
            if sent == 0:
                return False
            self._sent_bytes += sent
            if self._sent_bytes == len(data):
                self._sent_chunks, self._sent_bytes = self._sent_chunks + 1, 0
        return True

    def _take(self, kind, body):
        if kind == _TAKEN:
            self._acknowledge(struct.unpack("<Q", body)[0])
        elif kind == _WISHES:
            self._stop, asked = struct.unpack("<BQ", body)
            if self._first_wishes:  # what was asked before this script came is not for it
                self._saves_seen, self._first_wishes = asked, False
            self._saves_asked = asked
        elif kind == _REFUSED:  # this connection ends; the next one may be welcome
            self._refusals += 1
            self._leave_out("a message", "the recorder refused it: " + body[4:].decode("utf-8", "replace"))

    def _acknowledge(self, taken):
        self._taken = max(self._taken, taken)
        while self._chunks and self._chunks[0][0] <= taken and self._sent_chunks > 0:
            _, messages, data = self._chunks.popleft()
            self._arrived += messages
            self._chunk_bytes -= len(data)
            self._sent_chunks -= 1

    def _connect_again(self):
        """After the script closed our descriptor, say. What was not acknowledged goes out once more."""
        for kind, body in self._connection.last_words():
            self._take(kind, body)
        self._connection.close()
        if self._refusals >= _MOST_REFUSALS:
            return self._give_up("the recorder refuses it again and again")
        for pause in (0.0, 0.1, 0.5):
            time.sleep(pause)
            try:
                self._connection = self._connect()
            except (OSError, _Refused, struct.error):
                continue
            self._sent_chunks, self._sent_bytes = len(self._chunks), 0
            self._acknowledge(self._connection.taken)
            self._sent_chunks = 0
            return
        self._give_up("the run's recorder is gone")

    def _give_up(self, why):
        self._off = True
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        if not self._ended:
            _warn("the script goes on, but what it logs is not recorded any more, because " + why)

    def _leave(self):
        """One step towards the end: True when all is said, or nobody listens."""
        if self._connection is None:
            return True
        if self._queue:
            self._connection_wait()
            return False
        if self._goodbye is not True:
            how, why = self._goodbye
            self._goodbye = True
            if self._causes:
                self._add_message(_EVENT, self._warning(self._left_out_in_all()))
            self._add_message(_GOODBYE, struct.pack("<B", how) + _text(why))
            return False
        if self._taken >= self._numbered:
            self._connection.close()
            return True
        self._connection_wait()
        return False

    def _connection_wait(self):
        if self._sent_chunks < len(self._chunks):
            self._connection.wait_writable(_ACTIVE_SECONDS)
        else:
            time.sleep(0.002)

    def __enter__(self):
        return self

    def __exit__(self, kind, problem, _):
        if kind is not None:
            self._failure = (kind, "%s: %s" % (kind.__name__, problem))
        self._finish_as_it_stands()

    def _finish_as_it_stands(self):
        kind, why = self._failure or (None, "")
        by_hand = kind is not None and issubclass(kind, KeyboardInterrupt)
        self.finish(failed=kind is not None and not by_hand, why="Ctrl-C" if by_hand else why, stopped=by_hand)


# ---- contents

def _cell(value):
    """What JSON has a word for; numbers that it has none for as text."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    number = _number(value)
    if number is None:
        return str(value)
    return number if number - number == 0 else repr(number)


def _size_of(path):
    try:
        if not os.path.isdir(path):
            return os.path.getsize(path)
        return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)
    except OSError:
        return 0


def _binned(values, bins):
    if hasattr(values, "detach"):
        values = values.detach().cpu().float().numpy()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        values = numpy.asarray(values, dtype=float).ravel()
        finite = values[numpy.isfinite(values)]
        counts, edges = numpy.histogram(finite, bins=bins)
        return edges, counts, len(values) - len(finite)
    given = [float(value) for value in values]
    values = [value for value in given if value - value == 0]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    counts = [0] * bins
    for value in values:
        counts[min(bins - 1, int((value - low) / (high - low) * bins))] += 1
    return [low + (high - low) * i / bins for i in range(bins + 1)], counts, len(given) - len(values)


def _image_bytes(image):
    if isinstance(image, (bytes, bytearray, memoryview)):
        return bytes(image)
    if isinstance(image, (str, os.PathLike)):
        with open(image, "rb") as file:
            return file.read()
    import numpy
    if hasattr(image, "detach"):
        image = image.detach().cpu().numpy()
    pixels = numpy.asarray(image)
    if pixels.ndim == 3 and pixels.shape[0] in (1, 3, 4) and pixels.shape[2] not in (1, 3, 4):
        pixels = pixels.transpose(1, 2, 0)
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 3, 4):
        raise ValueError("an image is (height, width), or that with 1, 3 or 4 channels, not %r" % (pixels.shape,))
    if pixels.dtype.kind == "f":
        pixels = numpy.nan_to_num(pixels).clip(0, 1) * 255 + 0.5
    pixels = pixels.clip(0, 255).astype("uint8")
    height, width, channels = pixels.shape
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)

    def part(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", zlib.compress(lines, 6)) + part(b"IEND", b"")


# ---- the run of this process

_PID = object()          # stands for this process: another one after a fork
_LOCK = threading.Lock()
_current = None
_hooked = False


def _after_fork():
    global _PID, _LOCK
    _PID = object()
    _LOCK = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def current():
    """The run that init() made and that has not been finished, or None."""
    return _current


def init(name=None, total_steps=None, workspace=None, all_ranks=False):
    """Connects to the run of this script, or starts recording one. The same run again when it is there already.

    name and workspace are for a run that this call starts. In a distributed job only rank 0 (RANK, else LOCAL_RANK) logs,
    unless all_ranks is set.
    """
    global _current
    if _current is not None and _current._pid is _PID and not _current._ended:
        return _current
    rank = os.environ.get("RANK", os.environ.get("LOCAL_RANK", "0"))
    if rank not in ("", "0") and not all_ranks:
        return Run("", "", note="")
    path, token = os.environ.get("LATHE_SOCKET"), os.environ.get("LATHE_TOKEN")
    if path and token:
        run = Run(path, token)
    else:
        run = _start_recorder(name, workspace)
    if run.is_recorded:
        _current = run
        _hook()
        if total_steps:
            run.set_total_steps(total_steps)
    return run


def _start_recorder(name, workspace):
    trainer = os.environ.get("LATHE_TRAINER") or shutil.which("lathe-trainer")
    if not trainer:
        return Run("", "", note="lathe-trainer is not on PATH (LATHE_TRAINER can name it); this script is not recorded")
    command = [trainer, "record", "--json", "--pid", str(os.getpid())]
    command += ["--name", name] if name else []
    command += ["--workspace", str(workspace)] if workspace else []
    try:
        answer = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        facts = json.loads(answer.stdout or b"{}")
        path, token, run = facts["socket"], facts["token"], facts["run"]
    except (OSError, subprocess.SubprocessError) as problem:
        return Run("", "", note="this script is not recorded: %s" % problem)
    except (ValueError, KeyError, TypeError):
        why = answer.stderr.decode("utf-8", "replace").strip() or "lathe-trainer gave no answer (exit code %d)" % answer.returncode
        return Run("", "", note="this script is not recorded: %s" % why)
    made = Run(path, token)
    if made.is_recorded:  # what this script starts logs to the same run
        made._environment = {"LATHE_SOCKET": path, "LATHE_TOKEN": token, "LATHE_RUN": run}
        os.environ.update(made._environment)
    return made


def _forget(run):
    global _current
    if _current is run:
        _current = None
    for name in run._environment:
        os.environ.pop(name, None)


def _hook():
    """An exception that nobody catches is the reason of the run's end; a script that ends says goodbye."""
    global _hooked
    if _hooked:
        return
    _hooked = True
    before = sys.excepthook

    def at_exception(kind, problem, trace):
        if _current is not None:
            _current._failure = (kind, "%s: %s" % (kind.__name__, problem))
        before(kind, problem, trace)

    def at_exit():
        if _current is not None:
            _current._finish_as_it_stands()

    sys.excepthook = at_exception
    atexit.register(at_exit)
