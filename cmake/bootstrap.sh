#!/bin/sh
# From a fresh clone to the main job or to passed tests, in one command; `help` lists the commands.
set -eu
unset CDPATH  # with it cd prints the folder

root=$(cd "$(dirname "$0")/.." && pwd)
build="$root/build/release"
first="$root/build/first"

# Programs are listed as "command:package", and libraries by the packages of their headers.
build_programs="c++:g++ cmake:cmake ninja:ninja-build pkg-config:pkg-config"
test_programs="$build_programs python3:python3 redis-server:redis-server openssl:openssl"
# For tests of processors without AVX.
[ "$(uname -m)" != x86_64 ] || test_programs="$test_programs qemu-x86_64:qemu-user"
format_programs="clang-format-14:clang-format-14"
arm_programs="aarch64-linux-gnu-g++:g++-aarch64-linux-gnu qemu-aarch64:qemu-user"
demo_libraries="libhwy-dev libxxhash-dev libcli11-dev nlohmann-json3-dev zlib1g-dev libzstd-dev libsimdjson-dev"
all_libraries="$demo_libraries libgtest-dev libbenchmark-dev libsqlite3-dev libhiredis-dev"
tls_libraries="libssl-dev"  # used if hiredis has TLS, as in Debian 13
bench_libraries="$demo_libraries libbenchmark-dev"
clang_programs="clang++:clang"
clang_libraries="libclang-rt-dev"
browser_programs="chromium:chromium"
site_programs="doxygen:doxygen python3:python3"
# For the tests of tamis-report, and of the Python package, which install all other packages from PyPI.
python_packages="python3-matplotlib python3-jsonschema python3-dev python3-venv"

say() { echo "bootstrap: $*"; }
fail() {
  echo "bootstrap: $*" >&2
  exit 1
}
# Ends with status 69 (EX_UNAVAILABLE), because this machine lacks something. Failures end with
# other statuses.
unavailable() {
  echo "bootstrap: $*" >&2
  exit 69
}

usage() {
  cat <<'END'
Usage: cmake/bootstrap.sh COMMAND [ARGUMENTS]

  demo [ARGUMENTS]   build and run `tamis demo phones ARGUMENTS`
  test [ARGUMENTS]   build and run the first circle of tests, meant for each change;
                     ARGUMENTS are for ctest
  test all [ARGUMENTS]
                     both circles, with optimization: adds tests that need servers, browsers,
                     other libraries or minutes
  bench [ARGUMENTS]  build tamis-bench and tamis-report without the tests, and run
                     `tamis-bench ARGUMENTS`; the archive of a release is enough for it
  browser            install Chromium, for the tests of the page of tamis-report
  site               build the pages of docs/ and the reference of all headers as a website:
                     build/site/index.html, which needs no network
  deps [-DNAME=VALUE...]
                     only install the packages that `demo` and `test` need
  clang              install clang with its sanitizers and libFuzzer, for the preset `clang`
  aarch64 [ARGUMENTS]
                     build the tests for 64-bit Arm and run them in qemu: `ctest ARGUMENTS`;
                     `aarch64 deps` only installs what that needs
  format [--fix]     check the layout of the sources with clang-format, or fix it
  prefix DIR [ARCH]  unpack the libraries and headers into DIR, for a machine without network or a
                     cross build; then use cmake -DCMAKE_PREFIX_PATH=DIR
  help               print this text

ARGUMENTS of `test` and `aarch64` that begin with -D are for CMake, such as -DTAMIS_TESTS="core;simd".
Missing packages are installed with apt-get (with sudo if not root). Without apt-get the script names
them and stops. If CMAKE_PREFIX_PATH is set in the environment, libraries are found there, and none
are installed. Builds go to build/ in the repository.
END
}

name_what_is_needed() {
  cat >&2 <<'END'
bootstrap: tamis needs, from the packages of your system or through CMAKE_PREFIX_PATH:
  a C++20 compiler (g++ 12 or clang 14, or newer), CMake 3.22, Ninja or make, pkg-config,
  Highway 1.0.3, xxHash 0.8.1, CLI11, nlohmann-json; zlib and libzstd to read packed input,
  and simdjson 3.0 to read JSON lines;
  for the tests also Python 3, GoogleTest, Google Benchmark, SQLite for one example, and
  hiredis and redis-server for filters on Redis, which are optional;
  matplotlib for the plots of tamis-report, and the headers and venv of Python 3.11 or newer
  for the tests of the Python package
END
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    say "needs root or sudo for: $*" >&2
    return 1
  fi
}

# missing PROGRAMS LIBRARIES: prints the packages to install.
missing() {
  for program in $1; do
    command -v "${program%%:*}" >/dev/null || echo "${program##*:}"
  done
  [ -z "${CMAKE_PREFIX_PATH:-}" ] || return 0
  for library in $2; do
    dpkg-query -W -f '${db:Status-Status}\n' "$library" 2>/dev/null | grep -q '^installed$' ||
      echo "$library"
  done
}

# install_missing PROGRAMS LIBRARIES: fails if something cannot be installed.
install_missing() {
  if ! command -v apt-get >/dev/null; then
    say "no apt-get here: using the installed packages"
    return 0
  fi
  packages=$(missing "$1" "$2" | tr '\n' ' ')
  if [ -z "$packages" ]; then
    say "all packages needed are installed"
    return 0
  fi
  say "installing $packages"
  as_root apt-get -q update &&
    as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get -q install -y --no-install-recommends $packages
}

need() {
  install_missing "$1" "$2" || {
    name_what_is_needed
    fail "could not install $packages"
  }
}

# configure DIR OPTIONS...
configure() {
  dir=$1
  shift
  command -v cmake >/dev/null && command -v c++ >/dev/null || {
    name_what_is_needed
    exit 1
  }
  # The generator of an existing build folder cannot change.
  if [ ! -f "$dir/CMakeCache.txt" ] && command -v ninja >/dev/null; then
    set -- -G Ninja "$@"
  fi
  # ccache makes clean builds fast, because most files were compiled before.
  if command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER="${CMAKE_C_COMPILER_LAUNCHER-ccache}"
    export CMAKE_CXX_COMPILER_LAUNCHER="${CMAKE_CXX_COMPILER_LAUNCHER-ccache}"
  fi
  say "configuring ${dir#"$root"/}"
  cmake -S "$root" -B "$dir" "$@" || {
    name_what_is_needed
    fail "configuring failed, see above"
  }
}

# build DIR OPTIONS...
build() {
  dir=$1
  shift
  say "building ${dir#"$root"/} with $(nproc) jobs"
  cmake --build "$dir" --parallel "$(nproc)" "$@"
}

demo() {
  need "$build_programs" "$demo_libraries"
  # A folder that `test all` has configured keeps its tests.
  if [ -f "$build/CMakeCache.txt" ]; then
    configure "$build"
  else
    configure "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DTAMIS_BUILD_TESTS=OFF \
      -DTAMIS_BUILD_BENCH=OFF
  fi
  build "$build" --target tamis_command
  say "running tamis demo phones $*"
  exec "$build/tools/tamis" demo phones "$@"
}

bench() {
  need "$build_programs python3:python3" "$bench_libraries" >&2
  # An existing folder keeps its options, such as those for peers.
  if [ -f "$build/CMakeCache.txt" ]; then
    configure "$build" -DTAMIS_BUILD_BENCH=ON >&2
  else
    configure "$build" -DCMAKE_BUILD_TYPE=Release -DTAMIS_BUILD_TESTS=OFF >&2
  fi
  build "$build" --target tamis_bench tamis_report >&2
  say "running tamis-bench $*" >&2
  exec "$build/tamis-bench" "$@"
}

# Accepts any clang that can build a fuzz target.
clang_with_libfuzzer() {
  install_missing "$clang_programs" "$clang_libraries" || say "using the installed packages"
  command -v clang++ >/dev/null || unavailable "needs clang"
  mkdir -p "$root/build"
  echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
    clang++ -x c++ - -fsanitize=fuzzer,address,undefined -o "$root/build/clang-probe" ||
    unavailable "clang++ lacks its sanitizers or libFuzzer"
}

browser() {
  install_missing "$browser_programs" "" && command -v chromium >/dev/null ||
    unavailable "needs chromium"
}

site() {
  install_missing "$site_programs" "" && command -v doxygen >/dev/null || unavailable "needs doxygen"
  python3 -B "$root/docs/site/build.py" "$root/build"
  say "open build/site/index.html"
}

# take_options ARGUMENTS...: sets $options to the options for CMake, which come first and contain no spaces,
# and $taken to their number.
take_options() {
  options=
  taken=0
  for argument; do
    case $argument in
      -D) fail "write -DNAME=VALUE without a space" ;;
      -D*) ;;
      *) return 0 ;;
    esac
    options="$options $argument"
    taken=$((taken + 1))
  done
}

# need_for_tests: uses $options. The folders of tests (TAMIS_TESTS) that need packages of Python are bench, python and,
# for its peers, parquet.
need_for_tests() {
  python=$python_packages
  for option in $options; do
    case $option in
      -DTAMIS_TESTS= | -DTAMIS_TESTS=*bench* | -DTAMIS_TESTS=*python* | -DTAMIS_TESTS=*parquet*)
        python=$python_packages ;;
      -DTAMIS_TESTS=*) python= ;;
    esac
  done
  need "$test_programs" "$all_libraries $tls_libraries $python"
}

# The first circle compiles quickly: sources together (unity), with little optimization. Without a GPU it
# builds machine code for only one GPU architecture. Options of earlier calls are dropped (-U).
first_circle() {
  gpus=
  nvidia-smi -L >/dev/null 2>&1 || gpus=-DTAMIS_CUDA_ARCHITECTURES=90-real
  configure "$first" -U "TAMIS_*" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" \
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16 $gpus \
    -DTAMIS_BUILD_TESTS=ON -DTAMIS_BUILD_BENCH=OFF -DTAMIS_TESTS= "$@"
  build "$first"
}

both_circles() {
  configure "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16 \
    -DTAMIS_BUILD_TESTS=ON -DTAMIS_BUILD_BENCH=ON -DTAMIS_SECOND_CIRCLE=ON -DTAMIS_TESTS= "$@"
  build "$build"
}

# Runs two processes more than there are processors, because some tests wait for servers or for the
# disk.
run_ctest() {
  dir=$1
  shift
  say "testing"
  ctest --test-dir "$dir" --no-tests=error --output-on-failure --parallel $(($(nproc) + 2)) "$@"
}

run_tests() {
  all=no
  if [ "${1:-}" = all ]; then
    all=yes
    shift
  fi
  take_options "$@"
  shift $taken
  for argument; do
    [ "$argument" != all ] || fail "'all' comes first: cmake/bootstrap.sh test all [ARGUMENTS]"
  done
  need_for_tests
  if [ $all = yes ]; then
    both_circles $options
    run_ctest "$build" "$@"
  else
    first_circle $options
    run_ctest "$first" "$@"
    say "to run the second circle too: cmake/bootstrap.sh test all"
  fi
}

# Uses apt-get with a separate package database. So it can fetch packages of another architecture,
# and does not change the packages of the system.
prefix() {
  [ $# -ge 1 ] || fail "prefix needs a folder: cmake/bootstrap.sh prefix DIR [ARCH]"
  command -v apt-get >/dev/null || unavailable "prefix needs apt-get (Debian, Ubuntu)"
  mkdir -p "$1"
  dir=$(cd "$1" && pwd)
  arch=${2:-$(dpkg --print-architecture)}
  state="$dir/.apt"
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/debs"
  : >"$state/status"
  cat >"$state/apt.conf" <<END
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Sandbox::User "";
Dir::State::Lists "$state/lists";
Dir::State::status "$state/status";
Dir::Cache "$state/cache";
END
  export APT_CONFIG="$state/apt.conf"
  say "fetching the libraries for $arch"
  apt-get -q update || unavailable "the archive of this system has no package lists for $arch"
  # The packages of the headers, and of the shared libraries that they depend on.
  runtime=$(apt-cache depends --important $all_libraries |
    sed -n 's/^ *Depends: \(lib\(hwy\|xxhash\|benchmark\|zstd\|simdjson\|sqlite3\|hiredis\)[^ ]*\|zlib1g\)$/\1/p' | sort -u)
  (cd "$state/debs" && apt-get -q download $all_libraries $runtime) ||
    unavailable "the archive of this system lacks libraries for $arch"
  unset APT_CONFIG
  for deb in "$state"/debs/*.deb; do
    dpkg -x "$deb" "$state/root"
  done
  cp -R "$state/root/usr/include" "$state/root/usr/lib" "$dir"
  mkdir -p "$dir/share" && cp -R "$state/root/usr/share/cmake" "$dir/share"
  rm -rf "$state"
  # pkg-config files name /usr as prefix. Make the prefix relative to the file.
  find "$dir" -name '*.pc' -exec sed -i 's|^prefix=.*|prefix=${pcfiledir}/../../..|' {} +
  say "the libraries are in $dir; use them with cmake -DCMAKE_PREFIX_PATH=$dir"
}

aarch64() {
  take_options "$@"
  shift $taken
  install_missing "$test_programs $arm_programs" "" ||
    unavailable "cannot install the cross compiler and the emulator ($packages)"
  for program in $arm_programs; do
    command -v "${program%%:*}" >/dev/null || unavailable "needs ${program##*:}"
  done
  arm_prefix="$root/build/aarch64-prefix"
  # Runs this script again. If the archive is unavailable, the status 69 of that run also ends this
  # run. An interrupted run left only some of the files.
  [ -e "$arm_prefix/made" ] || {
    sh "$0" prefix "$arm_prefix" arm64
    touch "$arm_prefix/made"
  }
  [ "${1:-}" != deps ] || return 0
  arm_build="$root/build/aarch64"
  configure "$arm_build" -U "TAMIS_*" -U CMAKE_CXX_FLAGS_RELEASE -DCMAKE_BUILD_TYPE=Release \
    -DTAMIS_BUILD_BENCH=OFF -DTAMIS_TESTS= -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16 \
    --toolchain "$root/cmake/toolchain-aarch64.cmake" $options
  build "$arm_build"
  say "testing in qemu: everything with SVE vectors of 128 bits, kernels of SVE also with 256 and 512"
  QEMU_CPU=max,sve-default-vector-length=16 \
    ctest --test-dir "$arm_build" --no-tests=error --output-on-failure --parallel "$(nproc)" "$@"
}

# Later versions format code differently, so only version 14 (of Debian 12) is used.
format() {
  install_missing "$format_programs" "" && command -v clang-format-14 >/dev/null ||
    unavailable "needs clang-format-14"
  mode="--dry-run -Werror"
  [ "${1:-}" != --fix ] || mode=-i
  cd "$root"
  find core bank formats join plan simd cuda live redis parquet text bindings tools tests bench examples -name "*.h" -o -name "*.c" -o -name "*.cc" -o -name "*.cu" -o -name "*.cuh" |
    sort | xargs clang-format-14 $mode
}

command=${1:-help}
[ $# -eq 0 ] || shift
case $command in
  demo) demo "$@" ;;
  test) run_tests "$@" ;;
  bench) bench "$@" ;;
  browser) browser ;;
  site) site ;;
  clang) clang_with_libfuzzer ;;
  deps)
    take_options "$@"
    need_for_tests
    ;;
  aarch64) aarch64 "$@" ;;
  format) format "$@" ;;
  prefix) prefix "$@" ;;
  help | -h | --help) usage ;;
  *)
    usage >&2
    fail "no command '$command'"
    ;;
esac
