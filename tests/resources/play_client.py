"""Plays what scripts do with lathe.py, well and badly. Usage: play_client.py CASE; facts go to standard output as JSON."""
import atexit
import json
import os
import shutil
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "resources", "python"))
import lathe  # noqa: E402


def written(name):
    """A file of this name, as bytes, that is there until the script ends."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, True)
    path = os.path.join(os.fsencode(folder), name)
    with open(path, "wb") as file:
        file.write(b"weights")
    return path


def tell(**facts):
    print(json.dumps(facts), flush=True)


def everything(run):
    for step in range(1000):
        run.log(step, loss=1.0 / (step + 1), lr=0.1)
    run.log(5, loss=float("nan"))
    run.log(5, loss=float("-inf"), val_acc=1)
    run.log(None, {"deep/er": True}, loss=10**400, word="no number", gone=None)
    run.text(1, "sample", "once upon a time \ud800")
    run.table(2, "confusion", ["a", "b"], [[1, float("nan")], [None, "x"]])
    run.histogram(3, "weights", [1, 2, 3, 4.5, float("nan")], bins=4)
    run.histogram(4, "weights", edges=[0, 1], counts=[7])
    run.image(5, "input", b"\x89PNG\r\n\x1a\n picture")
    run.summary(best=0.5, words="many")
    run.checkpoint(6, __file__, {"eval/loss": 0.25})
    run.image(7, "missing", "/nowhere/picture.png")
    run.histogram(7, "odd", edges=[1], counts=[1])
    run.histogram(7, "odd", edges=[0, float("nan")], counts=[1])
    run.table(7, "short", ["a", "b"], [[1, 2], [3]])
    run.checkpoint(7, "/nowhere/model.pt", {"eval/loss": 0.1})
    run.log("seven", loss=1.0)
    run.log(2**70, loss=1.0)
    run.note("half way", kind="warning")
    run.set_total_steps(1000)


def odd_values(run):
    """Each cause is told once, and counted."""
    run.log(10**30, loss=0)
    run.log(loss=1)
    for value in ("abc", "abd", None, 10**400):
        run.log(5, loss=value)
    run.image(5, "a", "/nowhere/picture.png")
    run.image(5, "b", "/")
    run.image(5, "c", "/nowhere/picture.png")
    run.text(float("nan"), "kept", "text")
    run.finish(timeout=60)
    tell(missing=run.missing())


def crowded(run):
    run.log(0, {"s%d" % number: number for number in range(65540)})
    for step in range(1, 3):
        run.log(step, {"s%d" % number: number for number in range(65530, 65540)})
    run.finish(timeout=60)
    tell(missing=run.missing())


def rates(_):
    """Optimizers as PyTorch has them, as far as their rates go."""
    from types import SimpleNamespace
    made = [SimpleNamespace(param_groups=[{"lr": 0.1}, {"lr": 0.2}]), SimpleNamespace(param_groups=[{"lr": 0.3}, {"lr": 0.4}])]
    tell(**lathe.learning_rates(*made))


def listens_late(run):
    """The queue is full when it first asks; it asks again."""
    most, lathe._QUEUE = lathe._QUEUE, 0
    run.should_stop()
    lathe._QUEUE = most
    run.should_stop()
    tell(ready=True)
    sys.stdin.readline()


def child_listens(run):
    """Only the forked child goes on, and it only asks."""
    if os.fork() > 0:
        os._exit(0)
    while not run.should_stop():
        time.sleep(0.001)
    run.finish(timeout=60)


def refused(run):
    run.log(0, loss=0)
    run._send(lathe._POINTS, b"wrong")
    run.log(1, loss=1)
    run.finish(timeout=60)


def unsafe(run):
    """Ten points over a tenth of a second, and what of them is safe."""
    for step in range(10):
        run.log(step, loss=step)
        time.sleep(0.01)
    run.finish(timeout=0.5)
    tell(missing=run.missing())


def safe(run):
    for step in range(10):
        run.log(step, loss=step)
        time.sleep(0.01)
    while run.missing() > 0:
        time.sleep(0.01)
    tell(missing=0)
    sys.stdin.readline()


def gap(run):
    """Drops three messages, and dies without a word."""
    run.log(0, loss=0)
    while run.missing() > 0:
        time.sleep(0.005)
    run._dropped += 3
    run.log(1, loss=1)
    while run.missing() > 3:
        time.sleep(0.005)
    os.kill(os.getpid(), signal.SIGKILL)


def escapes(run):
    run.text(1, "a\x1b[31mb", "text")


def closes(run):
    for step in range(1000):
        run.log(step, loss=step)
    os.closerange(3, 256)
    kept = [open(os.devnull, "wb") for _ in range(20)]  # whoever gets our number must not get our bytes
    for step in range(1000, 2000):
        run.log(step, loss=step)
    time.sleep(0.1)
    for step in range(2000, 3000):
        run.log(step, loss=step)
    run.finish(timeout=60)
    tell(missing=run.missing(), open=[os.fstat(file.fileno()).st_size for file in kept])


def forks(run):
    run.log(0, loss=0)
    children = []
    for number in range(1, 4):
        child = os.fork()
        if child == 0:
            for step in range(100):
                run.log(step, {"child%d" % number: step})
            run.finish(timeout=60)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    run.log(1, loss=1)


def _pool_work(number):
    lathe.current().log(number, {"worker": number})


def pools(run):
    """Children of multiprocessing leave by os._exit, without atexit."""
    import multiprocessing

    context = multiprocessing.get_context("fork")
    children = [context.Process(target=_pool_work, args=(number,)) for number in range(8)]
    for child in children:
        child.start()
    for child in children:
        child.join()


def odd_names(run):
    class Nameless:
        def __str__(self):
            raise RuntimeError("no name")

        __repr__ = __str__

    run.log(0, {Nameless(): 1.0, "loss": 1.0})
    run.log(Nameless(), loss=1.0)
    run.checkpoint(1, written(b"model-\xff.pt"))
    run.log(1, loss=0.5)


def deaf(run):
    """Logs, and never asks whether it should stop."""
    run.log(-5, loss=1.0)
    tell(ready=True)
    while True:
        time.sleep(0.01)


def helped(run):
    """Has started another program, and goes on when its recorder is gone."""
    import subprocess

    helper = subprocess.Popen(["sleep", "60"])
    run.log(0, loss=0)
    tell(ready=True)
    sys.stdin.readline()
    tell(helper=helper.poll())
    helper.kill()


def deaf_daemon(run):
    if os.fork() > 0:
        os._exit(0)
    os.setsid()
    while True:
        run.log(0, loss=0)
        time.sleep(0.01)


def daemon(run):
    """As daemons do it: the parent leaves at once, without a word, and the work goes on in the child."""
    if os.fork() > 0:
        os._exit(0)
    os.setsid()
    for step in range(100):
        run.log(step, loss=step)


def names(run):
    run.log(0, {"layer.%d" % number: number for number in range(10000)})
    run.log(1, {"n" * (17 << 20): 1.5})
    run.log(2, 0.5)
    run.log(3, [1, 2])
    run.log({"first": 7.5})
    run.log(4, loss=0.5)


def flood(run):
    """Faster than anybody can take it, for as long as it takes to overflow."""
    total = 400000
    for step in range(total):
        run.log(step, loss=step)
    run.finish(timeout=30)
    tell(total=total, missing=run.missing())


def obeys(run):
    step = saved = 0
    run.log(step, loss=1)
    tell(ready=True)
    while not run.should_stop():
        if run.save_requested():
            saved += 1
            run.checkpoint(step, written(b"model-%d.pt" % saved))
        time.sleep(0.001)
    run.finish(timeout=60)
    tell(saved=saved)


def loses_its_recorder(run):
    run.log(0, loss=0)
    tell(ready=True)
    sys.stdin.readline()
    for step in range(1000):
        run.log(step, loss=step)
    while run.is_recorded:
        run.log(0, loss=0)
        time.sleep(0.01)
    run.log(0, loss=0)
    run.text(0, "a", "b")
    tell(missing=run.missing() >= 1001, stop=run.should_stop(), save=run.save_requested())


def raises(run):
    run.log(0, loss=0)
    raise ValueError("shapes differ")


def interrupted(run):
    run.log(0, loss=0)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)


def killed(run):
    for step in range(100):
        run.log(step, loss=step)
    while run.missing() > 0:
        time.sleep(0.005)
    os.kill(os.getpid(), signal.SIGKILL)


def threads(run):
    import threading

    def work(number):
        for step in range(2000):
            run.log(step, {"thread%d" % number: step})

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def twice(run):
    tell(same=lathe.init() is run, current=lathe.current() is run)
    run.finish(timeout=60)
    run.log(5, loss=5)
    again = lathe.init()
    again.log(6, loss=6)
    tell(another=again is not run, recorded=again.is_recorded)


def not_recorded(run):
    run.log(1, loss=1)
    run.text(1, "a", "b")
    run.summary(a=1)
    run.checkpoint(1, "/nowhere")
    run.finish(timeout=60)
    tell(recorded=run.is_recorded, stop=run.should_stop(), save=run.save_requested(), missing=run.missing())


if __name__ == "__main__":
    globals()[sys.argv[1]](lathe.init(name="played"))
