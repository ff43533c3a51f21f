# Shared by installer/start, installer/dependencies and tests/run. Sourced, not run.

lathe_top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
lathe_cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/lathe
torch_version=2.11.0

say() { printf '%s\n' "$*"; }
step() { printf '\n== %s\n' "$*"; }
# What happened, then what to do.
fail() { printf '\nlathe: %s\n' "$1" >&2; [[ -z ${2:-} ]] || printf '       %s\n' "$2" >&2; exit 3; }
# The usage comment at the top of a script.
usage() { awk 'NR > 1 && !/^#/ {exit} NR > 1 {sub(/^# ?/, ""); print}' "$1"; exit 2; }

free_mb() { df -Pm "$1" 2>/dev/null | awk 'NR == 2 {print $4}'; }

# "none", "usable", or why the NVIDIA GPU cannot be used.
gpu_state() {
  [[ -e /proc/driver/nvidia/version ]] || { echo none; return; }
  local driver
  driver=$(sed -n 's/.*Kernel Module[^0-9]*\([0-9]\+\)\.[0-9.]*.*/\1/p' /proc/driver/nvidia/version | head -n 1)
  if [[ -z $driver ]]; then echo "the version of its driver cannot be read"
  elif (( driver < 580 )); then echo "its driver is version $driver, and CUDA 13 needs 580 or newer"
  else echo usable; fi
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

# configure_and_build PRESET: leaves build/PRESET up to date.
configure_and_build() {
  local preset=$1 log=$lathe_top/build/$1-configure.log
  LIBTORCH_ROOT=$(torch_root)
  export LIBTORCH_ROOT
  (( $(free_mb "$lathe_top") > 1500 )) || fail "Building needs 1.5 GB in $lathe_top, and $(free_mb "$lathe_top") MB are free." "Free some space and start again; nothing that is done is done twice."
  mkdir -p "$lathe_top/build"
  (cd "$lathe_top" && cmake --preset "$preset" -DLIBTORCH_ROOT="$LIBTORCH_ROOT") >"$log" 2>&1 ||
    { tail -n 25 "$log" >&2; fail "The build could not be configured; the whole output is in $log." "If it names a missing package, run installer/dependencies and start again."; }
  NINJA_STATUS='[%f of %t, %es] ' cmake --build "$lathe_top/build/$preset" -j "$(build_jobs)" ||
    fail "The build failed; the first error stands above." "With 'signal 9' in it memory ran out: start again with fewer programs open."
}
