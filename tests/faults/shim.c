/* Library loaded before libc: the n-th system call that changes a folder fails or ends the process.
 *
 * Python arms it through ctypes, so that imports do not count as calls. A write that fails, or during
 * which the process ends, has written half of its bytes, as after a full disk or a kill.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char folder[PATH_MAX];
static long calls, fatal;
static int failure, back;

/* n: number of the call that fails, from 1 (0: none). error: errno of this call and of all later ones
 * (0: the process ends). */
void fault_arm(const char *under, long n, int error) {
  strncpy(folder, under, sizeof folder - 1);
  calls = 0, fatal = n, failure = error;
}

long fault_calls(void) { return calls; }

/* Move the wall clock back by this many seconds at every reading, from now on. */
void fault_clock(int seconds) { back = seconds; }

static int inside(const char *path) {
  return *folder && path && !strncmp(path, folder, strlen(folder));
}

static int inside_fd(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return inside(path);
}

/* Count a call, and return whether it must fail. Does not return if the process must end. */
static int fails(void) {
  calls += 1;
  if (!fatal || calls < fatal) return 0;
  if (!failure) kill(getpid(), SIGKILL);
  errno = failure;
  return 1;
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *data, size_t size) {
  REAL(write);
  if (!*folder || !inside_fd(fd)) return real(fd, data, size);
  if (fatal && calls + 1 == fatal && size > 1) {
    ssize_t half = real(fd, data, size / 2);
    if (failure) return calls += 1, half;
  }
  return fails() ? -1 : real(fd, data, size);
}

int fsync(int fd) {
  REAL(fsync);
  return inside_fd(fd) && fails() ? -1 : real(fd);
}

int rename(const char *from, const char *to) {
  REAL(rename);
  return inside(to) && fails() ? -1 : real(from, to);
}

int unlink(const char *path) {
  REAL(unlink);
  if (!inside(path)) return real(path);
  if (failure) return calls += 1, real(path); /* a full disk can still delete files */
  return fails() ? -1 : real(path);
}

int mkdir(const char *path, mode_t mode) {
  REAL(mkdir);
  return inside(path) && fails() ? -1 : real(path, mode);
}

#define OPEN(name)                                                            \
  int name(const char *path, int flags, ...) {                                \
    REAL(name);                                                               \
    va_list rest;                                                             \
    va_start(rest, flags);                                                    \
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;                 \
    va_end(rest);                                                             \
    if (flags & O_CREAT && inside(path) && fails()) return -1;                \
    return real(path, flags, mode);                                           \
  }
OPEN(open)
OPEN(open64)

int clock_gettime(clockid_t clock, struct timespec *now) {
  static long looks;
  REAL(clock_gettime);
  int result = real(clock, now);
  if (back && clock == CLOCK_REALTIME) now->tv_sec -= back * ++looks;
  return result;
}
