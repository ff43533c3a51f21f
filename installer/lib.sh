# Shared by installer/start, installer/dependencies, tests/run and core/engine/FindLibTorch.cmake. Sourced, not run.

lathe_top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
lathe_cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/lathe
torch_version=2.11.0

say() { printf '%s\n' "$*"; }
step() { printf '\n== %s\n' "$*"; }
# What happened, then what to do.
fail() { printf '\nlathe: %s\n' "$1" >&2; [[ -z ${2:-} ]] || printf '       %s\n' "$2" >&2; exit 3; }
# The usage comment at the top of a script.
usage() { awk 'NR > 1 && !/^#/ {exit} NR > 1 {sub(/^# ?/, ""); print}' "$1"; exit 2; }

# Ctrl-C, a closed terminal, a shutdown: said once, by the script that was called.
on_interruption() {
  local outermost=yes
  [[ -z ${LATHE_INSTALLING:-} ]] || outermost=no
  export LATHE_INSTALLING=1
  if [[ $outermost = yes ]]; then trap 'interrupted' INT TERM HUP; else trap 'exit 130' INT TERM HUP; fi
}
interrupted() {
  trap - INT TERM HUP
  printf '\nlathe: %s\n       %s\n' "Interrupted; what is done stays done." "Start again, and it goes on from there." >&2
  exit 130
}

free_mb() { df -Pm "$1" 2>/dev/null | awk 'NR == 2 {print $4}'; }

# says FILE PATTERN: whether a command's output FILE speaks of that.
says() { grep -qiE "$2" "$1"; }
no_space='no space left on device|enough free space|disk quota exceeded'
no_network='resolving|resolution|could not resolve|could not connect|cannot connect|failed to establish a new connection|network is unreachable|connection (refused|reset|broken|failed|timed out|aborted)|timed out|max retries|incompleteread|proxyerror'

supported_machine() {
  [[ $(uname -m) == x86_64 ]] || fail "This machine is $(uname -m); Lathe runs on x86_64 only." "Use a machine with an Intel or AMD processor."
}

# "none", "usable", or why the NVIDIA GPU cannot be used.
gpu_state() {
  [[ -e /proc/driver/nvidia/version ]] || { echo none; return; }
  local driver
  driver=$(sed -n 's/.*Kernel Module.* \([0-9]\{3,\}\)\.[0-9.]\+ .*/\1/p' /proc/driver/nvidia/version | head -n 1)
  if [[ -z $driver ]]; then echo "the version of its driver cannot be read"
  elif (( driver < 580 )); then echo "its driver is version $driver, and CUDA 13 needs 580 or newer"
  else echo usable; fi
}

# use_torch DIR: the torch/ folder of a wheel that is there already, instead of the cache.
use_torch() {
  LIBTORCH_ROOT=$(realpath -m "$1")
  export LIBTORCH_ROOT
}
# The torch/ folder of the wheel in use: what --torch or LIBTORCH_ROOT names, else the cache.
torch_root() {
  if [[ -n ${LIBTORCH_ROOT:-} ]]; then echo "$LIBTORCH_ROOT"; return; fi
  local cuda=$lathe_cache/torch-$torch_version-cuda/torch
  if [[ -d $cuda ]]; then echo "$cuda"; else echo "$lathe_cache/torch-$torch_version-cpu/torch"; fi
}

# Compilers need about 1.5 GB each.
build_jobs() {
  awk -v cores="$(nproc)" '/MemAvailable/ {n = int($2 / 1572864); print n < 1 ? 1 : (n < cores ? n : cores)}' /proc/meminfo
}

# configure_and_build PRESET [TARGET…]: leaves build/PRESET up to date, or that part of it. One at a time: a second one waits.
configure_and_build() {
  local preset=$1 build=$lathe_top/build log=$lathe_top/build/$1-configure.log lock full="Free some space and start again; what is built stays built."
  (mkdir -p "$build" && : >"$log") 2>/dev/null || fail "Nothing can be written in $build." "Make the clone yours (chown), or clone again where you may write."
  (( $(free_mb "$build") > 1500 )) || fail "Building needs 1.5 GB in $build, and $(free_mb "$build") MB are free." "$full"
  exec {lock}>"$build/$preset.lock"
  flock -n "$lock" || { say "Another build is at work in $build/$preset; waiting for it."; flock "$lock"; }
  (cd "$lathe_top" && cmake --preset "$preset" -DLIBTORCH_ROOT="$(torch_root)") >"$log" 2>&1 ||
    { tail -n 25 "$log" >&2; fail "The build could not be configured; the whole output is in $log." "If it names a missing package, run installer/dependencies and start again."; }
  if ! NINJA_STATUS='[%f of %t, %es] ' cmake --build "$build/$preset" -j "$(build_jobs)" ${2:+--target "${@:2}"}; then
    (( $(free_mb "$build") > 50 )) || fail "The disk is full: the build stopped." "$full"
    fail "The build failed; the first error stands above." "With 'signal 9' or 'Killed' in it memory ran out: start again with fewer programs open."
  fi
  exec {lock}>&-
}
