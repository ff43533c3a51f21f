/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shows what a program logs in Lathe, live. One header, C99 or C++, POSIX, nothing to link.
 *
 *     lathe_run* run = lathe_init("my run");
 *     lathe_total(run, 1000);
 *     for (int64_t step = 0; step < 1000 && !lathe_should_stop(run); ++step) {
 *         ...
 *         lathe_log(run, step, "loss", loss);
 *         if (lathe_save_requested(run)) { save(path); lathe_checkpoint(run, step, path, 0, 0, 0); }
 *     }
 *     lathe_finish(run, 0, "");
 *
 * Under `lathe-trainer run --command` the run is there already; by itself lathe_init() starts a recorder
 * (`lathe-trainer record`, found by LATHE_TRAINER or on PATH). Without either, one line on standard error says so and every
 * call does nothing. lathe_init() never returns NULL.
 *
 * No call waits, but for lathe_init() (a recorder starts within a second or so) and lathe_finish() (at most five seconds):
 * what the supervisor cannot take yet stays in a buffer of LATHE_BUFFER bytes, and what does not fit there is dropped and
 * counted (lathe_missing), and so is what cannot be recorded. Values go out with the call that logs them, at most every 20 ms; in a fast loop the last ones wait
 * for the next call, or for lathe_finish(), which exit() calls too. After a fork the child has a connection of its own from
 * its first call on. A run belongs to one thread at a time.
 *
 * With -std=c99, include this before other headers or define _POSIX_C_SOURCE 200809L.
 * The protocol: core/live/FORMAT.md.
 */
#ifndef LATHE_H
#define LATHE_H

#if !defined(_POSIX_C_SOURCE) && !defined(_GNU_SOURCE) && !defined(__cplusplus)
#define _POSIX_C_SOURCE 200809L
#endif

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef LATHE_BUFFER
#define LATHE_BUFFER ((size_t)8 << 20)
#endif

enum { LATHE_VERSION_ = 1, LATHE_MOST_BODY_ = 16 << 20, LATHE_MOST_NAMES_ = 65535, LATHE_HEADER_ = 16, LATHE_EVERY_MS_ = 20, LATHE_MOST_REFUSALS_ = 20 };
enum {
    LATHE_SERIES_ = 1, LATHE_POINTS_ = 2, LATHE_EVENT_ = 3, LATHE_TABLE_ = 4, LATHE_HISTOGRAM_ = 5, LATHE_TEXT_ = 6, LATHE_IMAGE_ = 7,
    LATHE_SUMMARY_ = 8, LATHE_CHECKPOINT_ = 9, LATHE_HELLO_ = 16, LATHE_SAVED_ = 17, LATHE_TOTAL_ = 18, LATHE_GOODBYE_ = 19, LATHE_LISTENS_ = 20,
    LATHE_WELCOME_ = 32, LATHE_REFUSED_ = 33, LATHE_WISHES_ = 34, LATHE_TAKEN_ = 35
};

typedef struct lathe_run {
    int off;                        /* nobody records */
    int fd;
    ino_t inode;                    /* of the socket: the program may have closed our descriptor, and reused its number */
    pid_t pid;
    char *path, *token;
    char id[33];
    unsigned char* out;             /* messages that are not acknowledged, then those that are not sent */
    size_t used, sent;
    uint64_t number, taken;         /* of the newest message; of the newest one that arrived */
    uint64_t waiting, lost;         /* messages in `out`; messages that never will arrive */
    uint64_t left_out;              /* values that cannot be recorded */
    int refusals;                   /* of connections that stood */
    unsigned char in[4096];         /* what the supervisor says is short */
    size_t in_used;
    char** names;                   /* by series id */
    uint32_t name_count, name_room;
    uint32_t* slots;                /* hash table over names: id + 1, 0 is free */
    uint32_t slot_count;            /* a power of two, at least twice name_count */
    int stop;
    uint64_t saves_asked, saves_seen;
    int listens;                    /* wishes that the recorder knows to be heeded: 1 stop, 2 save */
    int wishes_known;
    int64_t sent_ms;
} lathe_run;

/* ---- bytes: the format is little-endian whatever this machine is */

static inline unsigned char* lathe_put_(unsigned char* at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) at[i] = (unsigned char)(value >> (8 * i));
    return at + bytes;
}
static inline uint64_t lathe_get_(const unsigned char* at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= (uint64_t)at[i] << (8 * i);
    return value;
}
static inline unsigned char* lathe_put_double_(unsigned char* at, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return lathe_put_(at, bits, 8);
}
static inline unsigned char* lathe_put_bytes_(unsigned char* at, const void* data, size_t bytes) {
    at = lathe_put_(at, bytes, 4);
    if (bytes > 0) memcpy(at, data, bytes);
    return at + bytes;
}
static inline unsigned char* lathe_put_text_(unsigned char* at, const char* text) { return lathe_put_bytes_(at, text, strlen(text)); }
static inline int64_t lathe_wall_ns_(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
static inline int64_t lathe_ms_(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- connection */

static inline int lathe_is_ours_(const lathe_run* run) {
    struct stat info;
    return run->fd >= 0 && fstat(run->fd, &info) == 0 && S_ISSOCK(info.st_mode) && info.st_ino == run->inode;
}
static inline void lathe_disconnect_(lathe_run* run) {
    if (lathe_is_ours_(run)) close(run->fd);
    run->fd = -1;
    run->in_used = 0;
}
static inline void lathe_give_up_(lathe_run* run, const char* why) {
    lathe_disconnect_(run);
    if (!run->off) fprintf(stderr, "lathe: this program goes on, but what it logs is not recorded, because %s\n", why);
    run->off = 1;
}

static inline int lathe_open_socket_(const char* path) {
    struct sockaddr_un address;
    int fd, folder = -1, fine = 0;
    const char* name = strrchr(path, '/');
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    if (strlen(path) < sizeof address.sun_path) {
        memcpy(address.sun_path, path, strlen(path) + 1);
    } else {
        char parent[4096];
        if (name == NULL || (size_t)(name - path) >= sizeof parent) return -1;
        memcpy(parent, path, (size_t)(name - path));
        parent[name - path] = 0;
        folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder < 0) return -1;
        if (snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%.60s", folder, name + 1) >= (int)sizeof address.sun_path) {
            close(folder);
            return -1;
        }
    }
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0) {
        struct timeval patience = {10, 0};
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        fine = connect(fd, (const struct sockaddr*)&address, sizeof address) == 0;
    }
    if (folder >= 0) close(folder);
    if (fd >= 0 && !fine) close(fd);
    return fine ? fd : -1;
}

static inline int lathe_read_all_(int fd, unsigned char* data, size_t bytes) {
    while (bytes > 0) {
        ssize_t got = recv(fd, data, bytes, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        data += got;
        bytes -= (size_t)got;
    }
    return 1;
}

static inline void lathe_acknowledge_(lathe_run* run, uint64_t taken) {
    size_t done = 0;
    if (taken > run->taken) run->taken = taken;
    while (done < run->used && lathe_get_(run->out + done + 8, 8) <= taken) {
        done += LATHE_HEADER_ + (size_t)lathe_get_(run->out + done, 4);
        --run->waiting;
    }
    if (done == 0) return;
    memmove(run->out, run->out + done, run->used - done);
    run->used -= done;
    run->sent = run->sent > done ? run->sent - done : 0;
}

/* 1: welcome; 0: nobody there; -1: refused, which was said */
static inline int lathe_connect_(lathe_run* run) {
    unsigned char hello[1024], header[LATHE_HEADER_], *at = hello + LATHE_HEADER_;
    unsigned char answer[4096];
    struct stat info;
    size_t bytes;
    int kind;
    if (strlen(run->token) > 500) return 0;
    run->fd = lathe_open_socket_(run->path);
    if (run->fd < 0 || fstat(run->fd, &info) != 0) return 0;
    run->inode = info.st_ino;
    memcpy(at, "LATHEPRG", 8);
    at = lathe_put_(at + 8, LATHE_VERSION_, 4);
    at = lathe_put_text_(at, run->token);
    at = lathe_put_text_(at, run->id);
    at = lathe_put_text_(at, "C, lathe.h 1");
    bytes = (size_t)(at - hello) - LATHE_HEADER_;
    lathe_put_(lathe_put_(lathe_put_(lathe_put_(hello, bytes, 4), LATHE_HELLO_, 2), 0, 2), 0, 8);
    bytes += LATHE_HEADER_;
    for (at = hello; bytes > 0;) {
        ssize_t sent = send(run->fd, at, bytes, MSG_NOSIGNAL);
        if (sent <= 0) break;
        at += sent;
        bytes -= (size_t)sent;
    }
    if (!lathe_read_all_(run->fd, header, sizeof header)) goto gone; /* also where it hung up already: it says why */
    bytes = (size_t)lathe_get_(header, 4);
    kind = (int)lathe_get_(header + 4, 2);
    if (bytes < 12 || bytes >= sizeof answer || !lathe_read_all_(run->fd, answer, bytes)) goto gone;
    if (kind != LATHE_WELCOME_) {
        answer[bytes] = 0;
        lathe_give_up_(run, kind == LATHE_REFUSED_ ? (const char*)answer + 4 : "something else than a recorder answered");
        return -1;
    }
    fcntl(run->fd, F_SETFL, fcntl(run->fd, F_GETFL) | O_NONBLOCK);
    run->sent = run->used;
    lathe_acknowledge_(run, lathe_get_(answer + 4, 8));
    run->sent = 0;
    return 1;
gone:
    lathe_disconnect_(run);
    return 0;
}

static inline void lathe_hear_(lathe_run* run, int kind, const unsigned char* body, size_t bytes) {
    if (kind == LATHE_REFUSED_ && bytes >= 4 && run->refusals++ == 0) /* this connection ends; the next one may be welcome */
        fprintf(stderr, "lathe: the recorder refused a message of this program: %.*s\n", (int)(bytes - 4), (const char*)body + 4);
    if (kind == LATHE_TAKEN_ && bytes == 8) lathe_acknowledge_(run, lathe_get_(body, 8));
    if (kind != LATHE_WISHES_ || bytes != 9) return;
    run->stop = body[0];
    run->saves_asked = lathe_get_(body + 1, 8);
    if (!run->wishes_known) run->saves_seen = run->saves_asked; /* what was asked before this program came is not for it */
    run->wishes_known = 1;
}

/* Sends and receives what is possible now. 0 when the connection is over. */
static inline int lathe_exchange_(lathe_run* run) {
    int over = 0;
    if (!lathe_is_ours_(run)) return 0;
    while (!over && run->sent < run->used) {
        ssize_t sent = send(run->fd, run->out + run->sent, run->used - run->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
        if (sent <= 0) over = 1; /* but what it said before is heard */
        else run->sent += (size_t)sent;
    }
    for (;;) {
        size_t done = 0;
        ssize_t got = recv(run->fd, run->in + run->in_used, sizeof run->in - run->in_used, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return !over && (errno == EAGAIN || errno == EWOULDBLOCK);
        if (got == 0) return 0;
        run->in_used += (size_t)got;
        while (run->in_used - done >= LATHE_HEADER_) {
            size_t bytes = (size_t)lathe_get_(run->in + done, 4);
            if (bytes > sizeof run->in - LATHE_HEADER_) return 0;
            if (run->in_used - done < LATHE_HEADER_ + bytes) break;
            lathe_hear_(run, (int)lathe_get_(run->in + done + 4, 2), run->in + done + LATHE_HEADER_, bytes);
            done += LATHE_HEADER_ + bytes;
        }
        memmove(run->in, run->in + done, run->in_used - done);
        run->in_used -= done;
    }
}

static inline void lathe_new_id_(lathe_run* run) {
    unsigned char random[16];
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, random, sizeof random) != (ssize_t)sizeof random) {
        lathe_put_(random, (uint64_t)lathe_wall_ns_(), 8);
        lathe_put_(random + 8, (uint64_t)getpid(), 8);
    }
    if (fd >= 0) close(fd);
    for (int i = 0; i < 16; ++i) snprintf(run->id + 2 * i, 3, "%02x", random[i]);
}

static inline void lathe_forget_names_(lathe_run* run) {
    for (uint32_t i = 0; i < run->name_count; ++i) free(run->names[i]);
    free(run->names);
    free(run->slots);
    run->names = NULL;
    run->slots = NULL;
    run->name_count = run->name_room = run->slot_count = 0;
}

/* 0 when nobody records. In a forked child: a connection of its own, the parent's is left alone. */
static inline int lathe_ready_(lathe_run* run) {
    if (run->pid != getpid() && !run->off) {
        int copy = lathe_is_ours_(run) ? run->fd : -1; /* of the parent's; closed last, so that the run never looks deserted */
        run->fd = -1;
        run->in_used = 0;
        run->pid = getpid();
        run->listens = 0;
        run->used = run->sent = 0;
        run->number = run->taken = run->waiting = run->lost = run->left_out = 0;
        run->refusals = 0;
        lathe_forget_names_(run);
        run->wishes_known = 0;
        lathe_new_id_(run);
        if (lathe_connect_(run) == 0) lathe_give_up_(run, "nobody answers in this process");
        if (copy >= 0) close(copy);
    }
    if (run->off) ++run->lost;
    return !run->off;
}

static inline void lathe_pump_(lathe_run* run, int now) {
    int64_t ms;
    if (run->off) return;
    ms = lathe_ms_();
    if (!now && run->used - run->sent < 65536 && ms - run->sent_ms < LATHE_EVERY_MS_) return;
    run->sent_ms = ms;
    if (lathe_exchange_(run)) return;
    lathe_disconnect_(run);
    if (run->refusals >= LATHE_MOST_REFUSALS_) lathe_give_up_(run, "its recorder refuses it again and again");
    else if (lathe_connect_(run) == 0) lathe_give_up_(run, "the run's recorder is gone");
}

/* Room for the body of the next message, or NULL: dropped, its number kept. */
static inline unsigned char* lathe_begin_(lathe_run* run, int type, size_t bytes) {
    unsigned char* at;
    if (LATHE_HEADER_ + bytes > LATHE_BUFFER - run->used) lathe_pump_(run, 1);
    ++run->number;
    if (run->off || bytes > LATHE_MOST_BODY_ || LATHE_HEADER_ + bytes > LATHE_BUFFER - run->used) {
        ++run->lost;
        return NULL;
    }
    at = lathe_put_(run->out + run->used, bytes, 4);
    at = lathe_put_(lathe_put_(lathe_put_(at, (uint64_t)type, 2), 0, 2), run->number, 8);
    run->used += LATHE_HEADER_ + bytes;
    ++run->waiting;
    return at;
}

/* The slot where a name stands, or the free one where it belongs. */
static inline uint32_t* lathe_slot_(const lathe_run* run, const char* name) {
    uint32_t hash = 2166136261u, at; /* FNV-1a */
    for (const char* c = name; *c != 0; ++c) hash = (hash ^ (unsigned char)*c) * 16777619u;
    for (at = hash & (run->slot_count - 1); run->slots[at] != 0; at = (at + 1) & (run->slot_count - 1))
        if (strcmp(run->names[run->slots[at] - 1], name) == 0) break;
    return &run->slots[at];
}

/* Room for one more name. 0 when there is no memory. */
static inline int lathe_name_room_(lathe_run* run) {
    uint32_t room = run->name_room ? 2 * run->name_room : 16;
    char** grown;
    uint32_t* slots;
    if (run->name_count < run->name_room) return 1;
    grown = (char**)realloc(run->names, room * sizeof *grown);
    if (grown == NULL) return 0;
    run->names = grown;
    slots = (uint32_t*)calloc(2 * (size_t)room, sizeof *slots);
    if (slots == NULL) return 0;
    free(run->slots);
    run->slots = slots;
    run->slot_count = 2 * room;
    run->name_room = room;
    for (uint32_t id = 0; id < run->name_count; ++id) *lathe_slot_(run, run->names[id]) = id + 1;
    return 1;
}

/* Id of a series, declared when it is new; -1 when it cannot be. */
static inline int lathe_series_(lathe_run* run, const char* name) {
    unsigned char* at;
    char* copy;
    const uint32_t known = run->slot_count > 0 ? *lathe_slot_(run, name) : 0;
    if (known > 0) return (int)known - 1;
    if (run->name_count >= LATHE_MOST_NAMES_ || !lathe_name_room_(run)) return -1;
    copy = (char*)malloc(strlen(name) + 1);
    if (copy == NULL) return -1;
    at = lathe_begin_(run, LATHE_SERIES_, 2 + 4 + strlen(name) + 4);
    if (at == NULL) {
        free(copy);
        return -1;
    }
    memcpy(copy, name, strlen(name) + 1);
    run->names[run->name_count] = copy;
    lathe_put_text_(lathe_put_text_(lathe_put_(at, run->name_count, 2), name), "");
    *lathe_slot_(run, copy) = run->name_count + 1;
    return (int)run->name_count++;
}

static inline void lathe_event_(lathe_run* run, int64_t step, const char* kind, const char* text) {
    unsigned char* at = lathe_begin_(run, LATHE_EVENT_, 16 + 4 + strlen(kind) + 4 + strlen(text) + 4);
    if (at == NULL) return;
    at = lathe_put_(lathe_put_(at, (uint64_t)step, 8), (uint64_t)lathe_wall_ns_(), 8);
    lathe_put_text_(lathe_put_text_(lathe_put_text_(at, kind), text), "");
}

/* Values that cannot be recorded: told once, here and in the run; lathe_finish() says how many they were. */
static inline void lathe_leave_out_(lathe_run* run, int64_t step, size_t values) {
    static const char told[] = "Values are left out: a run has at most 65535 series";
    if (run->left_out == 0) {
        fprintf(stderr, "lathe: %s\n", told);
        lathe_event_(run, step, "warning", told);
    }
    run->left_out += values;
}

static inline void lathe_record_(lathe_run* run, int type, int64_t step, const char* name, const char* form, const void* data, size_t bytes) {
    unsigned char* at;
    if (!lathe_ready_(run)) return;
    at = lathe_begin_(run, type, 16 + 4 + strlen(name) + 4 + strlen(form) + 4 + bytes);
    if (at == NULL) return;
    at = lathe_put_(lathe_put_(at, (uint64_t)step, 8), (uint64_t)lathe_wall_ns_(), 8);
    lathe_put_bytes_(lathe_put_text_(lathe_put_text_(at, name), form), data, bytes);
    lathe_pump_(run, 0);
}

/* ---- what a program calls */

/* Several values of one step; NaN and infinities are kept. */
static inline void lathe_log_many(lathe_run* run, int64_t step, const char* const* names, const double* values, size_t count) {
    unsigned char* at;
    size_t known = 0;
    if (!lathe_ready_(run)) return;
    if (count > LATHE_MOST_NAMES_) {
        lathe_leave_out_(run, step, count - LATHE_MOST_NAMES_);
        count = LATHE_MOST_NAMES_;
    }
    for (size_t i = 0; i < count; ++i) known += lathe_series_(run, names[i]) >= 0;
    if (known < count && run->name_count >= LATHE_MOST_NAMES_) lathe_leave_out_(run, step, count - known);
    if (known == 0 && count > 0) return;
    at = lathe_begin_(run, LATHE_POINTS_, 18 + 10 * known);
    if (at != NULL) {
        at = lathe_put_(lathe_put_(lathe_put_(at, (uint64_t)step, 8), (uint64_t)lathe_wall_ns_(), 8), known, 2);
        for (size_t i = 0; i < count && known > 0; ++i) {
            const uint32_t id = run->slot_count > 0 ? *lathe_slot_(run, names[i]) : 0;
            if (id == 0) continue;
            at = lathe_put_double_(lathe_put_(at, id - 1, 2), values[i]);
            --known;
        }
    }
    lathe_pump_(run, 0);
}
static inline void lathe_log(lathe_run* run, int64_t step, const char* name, double value) { lathe_log_many(run, step, &name, &value, 1); }

static inline void lathe_text(lathe_run* run, int64_t step, const char* name, const char* text) {
    lathe_record_(run, LATHE_TEXT_, step, name, "", text, strlen(text));
}
/* json: {"columns": ["…"], "rows": [[…], …]} */
static inline void lathe_table(lathe_run* run, int64_t step, const char* name, const char* json) {
    lathe_record_(run, LATHE_TABLE_, step, name, "", json, strlen(json));
}
/* bins counts between bins + 1 edges */
static inline void lathe_histogram(lathe_run* run, int64_t step, const char* name, const double* edges, const double* counts, uint32_t bins) {
    size_t bytes = 4 + 8 * (2 * (size_t)bins + 1);
    unsigned char *data = (unsigned char*)malloc(bytes), *at = data;
    if (data == NULL) return;
    at = lathe_put_(at, bins, 4);
    for (uint32_t i = 0; i <= bins; ++i) at = lathe_put_double_(at, edges[i]);
    for (uint32_t i = 0; i < bins; ++i) at = lathe_put_double_(at, counts[i]);
    lathe_record_(run, LATHE_HISTOGRAM_, step, name, "", data, bytes);
    free(data);
}
/* The bytes of a PNG or JPEG file. */
static inline void lathe_image(lathe_run* run, int64_t step, const char* name, const void* file, size_t bytes) {
    const unsigned char* begin = (const unsigned char*)file;
    lathe_record_(run, LATHE_IMAGE_, step, name, bytes > 1 && begin[0] == 0xff ? "image/jpeg" : "image/png", file, bytes);
}
/* A value of the whole run, as JSON: "0.5", "\"text\"". The newest of a name counts. */
static inline void lathe_summary(lathe_run* run, const char* name, const char* json) { lathe_record_(run, LATHE_SUMMARY_, 0, name, "", json, strlen(json)); }

/* A sentence in the run's log; kind: "note", "warning" or "error". */
static inline void lathe_note(lathe_run* run, int64_t step, const char* kind, const char* text) {
    if (!lathe_ready_(run)) return;
    lathe_event_(run, step, kind, text);
    lathe_pump_(run, 0);
}

/* How many steps are planned: progress and time left come from it. */
static inline void lathe_total(lathe_run* run, int64_t steps) {
    unsigned char* at;
    if (!lathe_ready_(run)) return;
    at = lathe_begin_(run, LATHE_TOTAL_, 8);
    if (at != NULL) lathe_put_(at, (uint64_t)steps, 8);
    lathe_pump_(run, 0);
}

/* Tells the recorder, once, that this program heeds a wish: only then is it waited for. */
static inline void lathe_listen_(lathe_run* run, int wish) {
    unsigned char* at;
    if (run->listens & wish) return;
    at = lathe_begin_(run, LATHE_LISTENS_, 1);
    if (at == NULL) return;
    lathe_put_(at, (uint64_t)wish, 1);
    run->listens |= wish;
}

/* Whether somebody asked the run to stop: save what is to be kept, and leave the loop. */
static inline int lathe_should_stop(lathe_run* run) {
    if (run->off || !lathe_ready_(run)) return 0;
    lathe_listen_(run, 1);
    lathe_pump_(run, 0);
    return run->stop != 0;
}

/* 1 once for each time somebody asked to save now. */
static inline int lathe_save_requested(lathe_run* run) {
    if (run->off || !lathe_ready_(run)) return 0;
    lathe_listen_(run, 2);
    lathe_pump_(run, 0);
    if (run->saves_asked <= run->saves_seen) return 0;
    run->saves_seen = run->saves_asked;
    return 1;
}

/* A number as JSON and every locale read it; a NaN has no sign. */
static inline size_t lathe_number_(char* to, size_t room, double value) {
    size_t used = (size_t)snprintf(to, room, value != value ? "nan" : "%.17g", value);
    for (size_t i = 0; i < used; ++i)
        if (to[i] == ',') to[i] = '.';
    return used;
}

/* Tells of a checkpoint file that the program has written and keeps itself, with metrics (may be none). */
static inline void lathe_checkpoint(lathe_run* run, int64_t step, const char* path, const char* const* metrics, const double* values, size_t count) {
    size_t room = 256 + 6 * strlen(path), used;
    char *json, full[4096];
    struct stat info;
    if (run->off) return;
    if (path[0] != '/' && getcwd(full, sizeof full) != NULL) room += 6 * strlen(full);
    else full[0] = 0;
    for (size_t i = 0; i < count; ++i) room += 6 * strlen(metrics[i]) + 64;
    json = (char*)malloc(room);
    if (json == NULL) return;
    used = (size_t)snprintf(json, room, "{\"bytes\": %lld, \"path\": \"", stat(path, &info) == 0 ? (long long)info.st_size : 0LL);
#define LATHE_QUOTED_(text)                                                                                       \
    for (const char* c_ = (text); *c_ != 0; ++c_)                                                                 \
        used += (size_t)snprintf(json + used, room - used, (unsigned char)*c_ < 32 || *c_ == '"' || *c_ == '\\' ? "\\u%04x" : "%c", (unsigned char)*c_)
    if (full[0] != 0) {
        LATHE_QUOTED_(full);
        json[used++] = '/';
    }
    LATHE_QUOTED_(path);
    used += (size_t)snprintf(json + used, room - used, "\", \"metrics\": {");
    for (size_t i = 0; i < count; ++i) {
        used += (size_t)snprintf(json + used, room - used, i ? ", \"" : "\"");
        LATHE_QUOTED_(metrics[i]);
        used += (size_t)snprintf(json + used, room - used, "\": \"");
        used += lathe_number_(json + used, room - used, values[i]);
        used += (size_t)snprintf(json + used, room - used, "\"");
    }
#undef LATHE_QUOTED_
    used += (size_t)snprintf(json + used, room - used, "}}");
    lathe_record_(run, LATHE_CHECKPOINT_, step, path, "", json, used);
    free(json);
    if (run->saves_seen > 0 && !run->off) {
        unsigned char* at = lathe_begin_(run, LATHE_SAVED_, 8);
        if (at != NULL) lathe_put_(at, run->saves_seen, 8);
        lathe_pump_(run, 0);
    }
}

/* Whether somebody takes what is logged. */
static inline int lathe_is_recorded(const lathe_run* run) { return !run->off; }
/* What was logged and is not recorded, or not known to be safe yet: messages, and values that were left out. */
static inline uint64_t lathe_missing(const lathe_run* run) { return run->waiting + run->lost + run->left_out; }

/* Until there is room for a message, or something to hear, for 20 ms at most. */
static inline void lathe_wait_(lathe_run* run) {
    struct pollfd wait;
    wait.fd = run->fd;
    wait.events = (short)(run->sent < run->used ? POLLIN | POLLOUT : POLLIN);
    wait.revents = 0;
    poll(&wait, 1, 20);
}

/* Sends what is left, for at most five seconds, and says how the program ends: failed != 0 with a reason. */
static inline void lathe_finish(lathe_run* run, int failed, const char* why) {
    const int64_t until = lathe_ms_() + 5000;
    const size_t words = strlen(why) < 4096 ? strlen(why) : 4096, room = 2 * LATHE_HEADER_ + 512 + words;
    char left_out[96];
    unsigned char* at;
    if (run->off || run->pid != getpid()) return;
    while (!run->off && room > LATHE_BUFFER - run->used && lathe_ms_() < until) {
        lathe_pump_(run, 1);
        if (!run->off && room > LATHE_BUFFER - run->used) lathe_wait_(run);
    }
    if (run->left_out > 0) {
        snprintf(left_out, sizeof left_out, "%llu values were left out in all", (unsigned long long)run->left_out);
        lathe_event_(run, 0, "warning", left_out);
    }
    at = lathe_begin_(run, LATHE_GOODBYE_, 1 + 4 + words);
    if (at != NULL) lathe_put_bytes_(lathe_put_(at, failed ? 1u : run->stop ? 2u : 0u, 1), why, words);
    while (!run->off && run->taken < run->number && lathe_ms_() < until) {
        lathe_pump_(run, 1);
        if (!run->off && run->taken < run->number) lathe_wait_(run);
    }
    if (lathe_missing(run) > 0) fprintf(stderr, "lathe: %llu messages and values of this program were not recorded\n", (unsigned long long)lathe_missing(run));
    run->off = 1;
    lathe_disconnect_(run);
}

/* ---- beginning */

static lathe_run* lathe_last_ = NULL; /* what exit() finishes */
static inline void lathe_at_exit_(void) {
    if (lathe_last_ != NULL) lathe_finish(lathe_last_, 0, "");
}

/* The character of an escape behind a backslash, which `at` moves past; -1 when it is none. */
static inline int lathe_escape_(const char** at) {
    static const char kinds[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char* kind = strchr(kinds, **at);
    if (**at == 'u') { /* the writer escapes nothing but control characters */
        char digits[5] = {0, 0, 0, 0, 0}, *end;
        long value;
        strncpy(digits, *at + 1, 4);
        value = strtol(digits, &end, 16);
        if (end != digits + 4 || value < 1 || value > 127) return -1;
        *at += 5;
        return (int)value;
    }
    if (**at == 0 || kind == NULL) return -1;
    ++*at;
    return meant[kind - kinds];
}

/* The text of a field in one line of flat JSON. */
static inline char* lathe_field_(const char* json, const char* name) {
    char pattern[64], *out, *to;
    const char* at;
    snprintf(pattern, sizeof pattern, "\"%s\":", name);
    at = strstr(json, pattern);
    if (at == NULL) return NULL;
    at += strlen(pattern);
    while (*at == ' ') ++at;
    if (*at++ != '"') return NULL;
    out = to = (char*)malloc(strlen(at) + 1);
    while (out != NULL && *at != '"') {
        int c = *at == 0 ? -1 : (unsigned char)*at++;
        if (c == '\\') c = lathe_escape_(&at);
        if (c < 0) {
            free(out);
            return NULL;
        }
        *to++ = (char)c;
    }
    if (out != NULL) *to = 0;
    return out;
}

static inline void lathe_start_recorder_(lathe_run* run, const char* name) {
    char pid[32], answer[16384], *id;
    const char* trainer = getenv("LATHE_TRAINER");
    const char* words[8];
    size_t used = 0;
    int ends[2], status = 0, n = 0;
    pid_t child;
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    words[n++] = trainer != NULL && trainer[0] != 0 ? trainer : "lathe-trainer";
    words[n++] = "record";
    words[n++] = "--json";
    words[n++] = "--pid";
    words[n++] = pid;
    if (name != NULL && name[0] != 0) {
        words[n++] = "--name";
        words[n++] = name;
    }
    words[n] = NULL;
    if (pipe(ends) != 0) return;
    child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_RDONLY);
        dup2(null, 0);
        dup2(ends[1], 1);
        for (int fd = 3; fd < 1024; ++fd) close(fd); /* the recorder stays: nothing of this program's may stay open with it */
        execvp(words[0], (char* const*)(uintptr_t)words);
        _exit(127);
    }
    close(ends[1]);
    while (child > 0 && used + 1 < sizeof answer) {
        ssize_t got = read(ends[0], answer + used, sizeof answer - 1 - used);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        used += (size_t)got;
    }
    answer[used] = 0;
    close(ends[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    run->path = lathe_field_(answer, "socket");
    run->token = lathe_field_(answer, "token");
    id = lathe_field_(answer, "run");
    if (run->path != NULL && run->token != NULL && id != NULL) { /* what this program starts logs to the same run */
        setenv("LATHE_SOCKET", run->path, 1);
        setenv("LATHE_TOKEN", run->token, 1);
        setenv("LATHE_RUN", id, 1);
    }
    free(id);
}

static inline char* lathe_copy_(const char* text) {
    char* copy = text == NULL || text[0] == 0 ? NULL : (char*)malloc(strlen(text) + 1);
    if (copy != NULL) memcpy(copy, text, strlen(text) + 1);
    return copy;
}

/* Connects to this program's run, or starts recording one. `name` may be NULL. Never NULL; release with lathe_free(). */
static inline lathe_run* lathe_init(const char* name) {
    static lathe_run none; /* when there is no memory even for this */
    lathe_run* run = (lathe_run*)calloc(1, sizeof *run);
    if (run == NULL) run = &none;
    run->fd = -1;
    run->pid = getpid();
    run->off = 1;
    run->out = run == &none ? NULL : (unsigned char*)malloc(LATHE_BUFFER);
    if (run->out == NULL) return run;
    run->path = lathe_copy_(getenv("LATHE_SOCKET"));
    run->token = lathe_copy_(getenv("LATHE_TOKEN"));
    if (run->path == NULL || run->token == NULL) lathe_start_recorder_(run, name);
    if (run->path == NULL || run->token == NULL) {
        fprintf(stderr, "lathe: no recorder could be started (lathe-trainer on PATH, or LATHE_TRAINER); this program is not recorded\n");
        return run;
    }
    lathe_new_id_(run);
    run->off = 0;
    if (lathe_connect_(run) == 0) lathe_give_up_(run, "nobody answers at LATHE_SOCKET");
    if (lathe_last_ == NULL) atexit(lathe_at_exit_);
    lathe_last_ = run;
    return run;
}

/* Finishes if that has not been done, and gives the memory back. */
static inline void lathe_free(lathe_run* run) {
    if (run->out == NULL) return;
    lathe_finish(run, 0, "");
    if (lathe_last_ == run) lathe_last_ = NULL;
    lathe_forget_names_(run);
    free(run->out);
    free(run->path);
    free(run->token);
    free(run);
}

#ifdef __cplusplus
}
#endif
#endif
