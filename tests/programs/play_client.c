/* Plays what programs do with lathe.h, well and badly. Usage: play-client CASE. Built as C and as C++. */
#include "lathe.h"

#include <math.h>

static void everything(lathe_run* run) {
    static const char* const names[] = {"loss", "lr"};
    static const char* const metrics[] = {"eval/loss", "odd \"name\""};
    const double edges[] = {0, 1, 2}, counts[] = {3, 4}, measured[] = {0.25, 1.0 / 3};
    const unsigned char picture[] = {0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 1};
    double values[2];
    for (int step = 0; step < 1000; ++step) {
        values[0] = 1.0 / (step + 1);
        values[1] = 0.1;
        lathe_log_many(run, step, names, values, 2);
    }
    lathe_log(run, 5, "loss", NAN);
    lathe_log(run, 5, "loss", -INFINITY);
    lathe_log(run, -1, "val_acc", 1);
    lathe_text(run, 1, "sample", "once upon a time");
    lathe_table(run, 2, "confusion", "{\"columns\": [\"a\"], \"rows\": [[1]]}");
    lathe_histogram(run, 3, "weights", edges, counts, 2);
    lathe_image(run, 4, "input", picture, sizeof picture);
    lathe_summary(run, "best", "0.5");
    lathe_checkpoint(run, 6, "some \"file\".bin", metrics, measured, 2);
    lathe_note(run, 6, "warning", "half way");
    lathe_total(run, 1000);
}

static void closes(lathe_run* run) {
    FILE* kept[20];
    long written = 0;
    for (int step = 0; step < 1000; ++step) lathe_log(run, step, "loss", step);
    for (int fd = 3; fd < 256; ++fd) close(fd);
    for (int i = 0; i < 20; ++i) kept[i] = tmpfile(); /* one of them gets the number that was the connection's */
    for (int step = 1000; step < 3000; ++step) lathe_log(run, step, "loss", step);
    for (int i = 0; i < 20; ++i) {
        if (kept[i] == NULL || fseek(kept[i], 0, SEEK_END) != 0) continue;
        written += ftell(kept[i]);
    }
    lathe_finish(run, 0, "");
    printf("%llu %ld\n", (unsigned long long)lathe_missing(run), written);
}

static void forks(lathe_run* run) {
    pid_t child;
    lathe_log(run, 0, "loss", 0);
    child = fork();
    for (int step = 0; step < 100; ++step) lathe_log(run, step, child == 0 ? "child" : "parent", step);
    if (child != 0) waitpid(child, NULL, 0);
}

static void flood(lathe_run* run) {
    const int total = 400000;
    for (int step = 0; step < total; ++step) lathe_log(run, step, "loss", step);
    lathe_finish(run, 0, "");
    printf("%d %llu\n", total, (unsigned long long)lathe_missing(run));
}

/* More than the buffer holds, while nobody takes it; then it says that it wants to leave. */
static void full(lathe_run* run) {
    const int total = 300000;
    for (int step = 0; step < total; ++step) lathe_log(run, step, "loss", step);
    printf("full\n");
    fflush(stdout);
    lathe_finish(run, 0, "");
    printf("%d %llu\n", total, (unsigned long long)lathe_missing(run));
}

static void crowded(lathe_run* run) {
    char name[32];
    for (int number = 0; number < 65540; ++number) {
        snprintf(name, sizeof name, "s%d", number);
        lathe_log(run, 0, name, number);
    }
    lathe_log(run, 1, "s5", 1);
    lathe_finish(run, 0, "");
    printf("%llu\n", (unsigned long long)lathe_missing(run));
}

static void bad_path(lathe_run* run) { lathe_checkpoint(run, 1, "/tmp/model-\xff.pt", NULL, NULL, 0); }

static void refused(lathe_run* run) {
    /* a body of a wrong length */
    lathe_log(run, 0, "loss", 1);
    lathe_begin_(run, LATHE_POINTS_, 1)[0] = 0;
    lathe_log(run, 1, "loss", 2);
}

static void names(lathe_run* run) {
    static const char* const same[] = {"layer.5", "layer.6", "layer.5"};
    static const double values[] = {1, 2, 3};
    char name[32];
    char* giant = (char*)malloc((1 << 20) + 1);
    for (int number = 0; number < 2000; ++number) {
        snprintf(name, sizeof name, "layer.%d", number);
        lathe_log(run, 0, name, number);
    }
    lathe_log_many(run, 7, same, values, 3);
    if (giant == NULL) return;
    memset(giant, 'n', 1 << 20);
    giant[1 << 20] = 0;
    lathe_log(run, 1, giant, 1.5);
    free(giant);
}

static void obeys(lathe_run* run) {
    const struct timespec pause = {0, 1000000};
    int saved = 0;
    lathe_log(run, 0, "loss", 1);
    printf("ready\n");
    fflush(stdout);
    while (!lathe_should_stop(run)) {
        if (lathe_save_requested(run)) {
            ++saved;
            lathe_checkpoint(run, saved, "/tmp/model.bin", NULL, NULL, 0);
        }
        nanosleep(&pause, NULL);
    }
    lathe_finish(run, 0, "");
    printf("%d\n", saved);
}

static void loses_its_recorder(lathe_run* run) {
    lathe_log(run, 0, "loss", 0);
    printf("ready\n");
    fflush(stdout);
    if (getchar() == EOF) return;
    for (int step = 0; step < 1000; ++step) lathe_log(run, step, "loss", step);
    while (lathe_is_recorded(run)) lathe_log(run, 0, "loss", 0);
    lathe_log(run, 0, "loss", 0);
    printf("%d %d\n", lathe_missing(run) >= 1001, lathe_should_stop(run));
}

int main(int argc, char** argv) {
    static const struct {
        const char* name;
        void (*play)(lathe_run*);
    } cases[] = {{"everything", everything}, {"closes", closes}, {"forks", forks}, {"flood", flood}, {"full", full}, {"crowded", crowded}, {"bad_path", bad_path}, {"refused", refused}, {"names", names}, {"obeys", obeys}, {"loses_its_recorder", loses_its_recorder}};
    lathe_run* run;
    if (argc < 2) return 2;
    run = lathe_init("played");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        if (strcmp(argv[1], cases[i].name) == 0) cases[i].play(run);
    if (strcmp(argv[1], "leaves") == 0) { /* exit() says goodbye, with what is still in the buffer */
        lathe_log(run, 0, "loss", 0);
        lathe_log(run, 1, "loss", 1);
        return 0;
    }
    lathe_free(run);
    return 0;
}
