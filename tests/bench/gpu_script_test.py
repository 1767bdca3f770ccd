"""Tests the steps of bench/gpu.sh with fakes of nvidia-smi, nvcc, CMake and the programs that these build.

Usage: gpu_script_test.py BENCH_FOLDER
"""
import json
import os
import pathlib
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)) / "gpu.sh"

# A fake program fails if its arguments match FAKE_FAIL. A fake benchmark never ends if its sizes match FAKE_SLEEP. If
# its sizes match FAKE_LATE, the benchmark sets the clock, which is a file, past every time limit, and exits with the
# status of timeout.
FAKE = r"""#!/bin/sh
echo "{name} $*" >>"$FAKE_LOG"
matches() {{ [ -n "$1" ] && printf '%s' "{name} $2" | grep -Eq -- "$1"; }}
if matches "${{FAKE_FAIL:-}}" "$*"; then echo "{name} fails"; exit 3; fi
{body}
"""
BODIES = {
    "nvidia-smi": 'case $* in *compute_cap*) echo "${FAKE_GPU-9.0}" ;; *) echo "Fake GPU, 1" ;; esac',
    "nvcc": "",
    "date": 'cat "$FAKE_CLOCK"',
    "compute-sanitizer": "echo Device not supported; exit 1",
    "cmake": r"""
[ "$1" = --build ] || exit 0
mkdir -p "$2/tests/cuda"
cp "$FAKE_BIN/tamis-bench" "$2/"
cp "$FAKE_BIN/tamis_cuda_tests" "$2/tests/cuda/"
""",
    "tamis_cuda_tests": "",
    "tamis-bench": r"""
while [ $# -gt 0 ]; do
  case $1 in --out) out=$2 ;; --sizes) sizes=$2 ;; esac
  shift
done
if matches "${FAKE_SLEEP:-}" "$sizes"; then
  printf '{"part of": "%s"}\n' "$sizes" >"$out.part"
  exec sleep 600
fi
if matches "${FAKE_LATE:-}" "$sizes"; then
  printf '{"part of": "%s"}\n' "$sizes" >"$out.part"
  echo 1000000 >"$FAKE_CLOCK"
  exit 124
fi
printf '{"sizes": "%s"}\n' "$sizes" >"$out"
""",
}
ANCHORS = ["16MiB", "1024MiB", "512MiB"]


class GpuScript(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        self.out = self.folder / "out"
        self.log = self.folder / "calls.log"
        self.log.touch()
        self.clock = self.folder / "clock"
        self.clock.write_text("1000\n")
        for name, body in BODIES.items():
            path = self.bin / name
            path.write_text(FAKE.format(name=name, body=body))
            path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def peers(self, *headers):
        for header in headers:
            path = self.folder / "peers" / header
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return str(self.folder / "peers")

    def start(self, *arguments, **environment):
        variables = {name: value for name, value in os.environ.items()
                     if not name.startswith("TAMIS_")}
        variables.update(environment, FAKE_BIN=str(self.bin), FAKE_LOG=str(self.log),
                         FAKE_CLOCK=str(self.clock),
                         PATH=f"{self.bin}:{os.environ['PATH']}")
        return subprocess.Popen(["sh", str(SCRIPT), *arguments, str(self.out)], env=variables,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_script(self, *arguments, **environment):
        process = self.start(*arguments, **environment)
        self.stdout, self.stderr = process.communicate(timeout=900)
        return process.returncode

    def results(self):
        return json.loads((self.out / "results.json").read_text())

    def outcomes(self):
        return {step["name"]: step["outcome"] for step in self.results()["steps"]}

    def test_the_most_important_steps_come_first(self):
        self.assertEqual(self.run_script(), 0, self.stderr)
        results = self.results()
        self.assertEqual(results["failed"], "")
        self.assertEqual(results["gpu"], "Fake GPU, 1")
        names = [step["name"] for step in results["steps"]]
        benchmarks = [i for i, name in enumerate(names) if name.startswith("benchmark")]
        tests = [names.index(name) for name in names
                 if name.startswith(("smoke", "bit-equality", "no false negatives"))]
        self.assertEqual(len(tests), 3)
        self.assertLess(max(tests), min(benchmarks))
        self.assertEqual([names[i].split()[1] for i in benchmarks[:3]],
                         [name + ":" for name in ANCHORS])
        self.assertEqual(benchmarks[:3], list(range(benchmarks[0], benchmarks[0] + 3)))
        self.assertEqual(list(results["benchmarks"]), ANCHORS + ["small", "others"])
        self.assertEqual(results["benchmarks"]["512MiB"], {"sizes": "GPU_512MiB"})
        self.assertEqual(self.outcomes()["compute-sanitizer memcheck"],
                         "left out: Device not supported")
        self.assertNotIn("peer_", self.log.read_text())

    def test_no_gpu(self):
        self.assertEqual(self.run_script(), 0, self.stderr)
        kept = {path.name: path.read_text() for path in self.out.glob("*.json")}
        self.assertIn("results.json", kept)
        self.log.write_text("")
        self.assertEqual(self.run_script(FAKE_GPU=""), 69)
        self.assertNotIn("cmake", self.log.read_text())
        for name, text in kept.items():
            self.assertEqual((self.out / name).read_text(), text)

    def test_help(self):
        for option in ("--help", "-h"):
            self.assertEqual(self.run_script(option), 0)
            self.assertIn("Usage: bench/gpu.sh", self.stdout)
            self.assertIn("TAMIS_GPU_SECONDS", self.stdout)
            self.assertEqual(self.stderr, "")
        self.assertEqual(self.log.read_text(), "")

    def test_options_may_come_last(self):
        self.log.write_text("")
        process = subprocess.run(
            ["sh", str(SCRIPT), str(self.out), "--peers", str(self.folder / "none")],
            capture_output=True, text=True, check=False)
        self.assertEqual(process.returncode, 64)
        self.assertIn("no such folder", process.stderr)

    def test_wrong_arguments_build_nothing(self):
        for arguments in (["--peers", str(self.folder / "none")], [f"--peers={self.folder}/none"],
                          ["--peers", str(self.bin)], ["--peer"], ["--peers"], ["a"],
                          ["--peers", ""], ["--peers="]):
            self.assertEqual(self.run_script(*arguments), 64, arguments)
            self.assertIn("Usage: bench/gpu.sh", self.stderr)
        for empty in (["--peers", ""], ["--peers="]):
            self.run_script(*empty)
            self.assertIn("no such folder", self.stderr)
        for seconds in ("abc", "-5", "1e3", "4.5"):
            self.assertEqual(self.run_script(TAMIS_GPU_SECONDS=seconds), 64, seconds)
            self.assertIn(f"TAMIS_GPU_SECONDS is {seconds};", self.stderr)
        self.assertEqual(self.log.read_text(), "")

    def test_peers(self):
        peers = self.peers("cuCollections/include/cuco/bloom_filter.cuh",
                           "Cuckoo-GPU/include/cuckoogpu/CuckooFilter.cuh")
        self.assertEqual(self.run_script("--peers", peers), 0, self.stderr)
        calls = self.log.read_text()
        self.assertIn(f"-DTAMIS_CUDA_PEERS={peers}", calls)
        self.assertIn("--target tamis_bench_peer_cuco\n", calls)
        self.assertIn("--target tamis_bench_peer_cuckoo_gpu\n", calls)
        # This peer ends the whole program if it fails, so a separate call measures it.
        for call in calls.splitlines():
            if call.startswith("tamis-bench"):
                own = "--benchmark_filter=-^cuckoo_gpu" in call
                self.assertNotEqual(own, "benchmark-cuckoo-gpu.json" in call, call)
        self.assertIn("cuckoo-gpu", self.results()["benchmarks"])

    def test_a_peer_that_does_not_compile_is_left_out(self):
        peers = self.peers("include/cuco/bloom_filter.cuh",
                           "include/cuckoogpu/CuckooFilter.cuh")
        self.assertEqual(self.run_script("--peers", peers, FAKE_FAIL="peer_cuco$"), 0, self.stderr)
        self.assertEqual(self.outcomes()["build the peer cuCollections"], "failed with status 3")
        self.assertEqual(self.results()["failed"], "")
        self.assertIn(f"cmake {self.out} -DTAMIS_CUDA_PEER_CUCO=OFF\n", self.log.read_text())
        self.assertIn("cuckoo-gpu", self.results()["benchmarks"])

    def test_a_failing_peer_does_not_fail_the_script(self):
        peers = self.peers("include/cuckoogpu/CuckooFilter.cuh")
        self.assertEqual(self.run_script("--peers", peers, FAKE_FAIL="benchmark-cuckoo-gpu"), 0,
                         self.stderr)
        self.assertIn("failed with status 3", self.outcomes()["benchmark cuckoo-gpu: beside Cuckoo-GPU"])
        self.assertEqual(list(self.results()["benchmarks"]), ANCHORS + ["small", "others"])

    def test_a_failing_test_stops_the_run(self):
        self.assertEqual(self.run_script(FAKE_FAIL="tamis_cuda_tests.*EveryOutput"), 1)
        results = self.results()
        self.assertEqual(results["failed"], "bit-equality with the CPU")
        self.assertEqual(results["benchmarks"], {})
        self.assertNotIn("tamis-bench", self.log.read_text())

    def test_keep_going_measures_and_fails(self):
        self.assertEqual(self.run_script("--keep-going", FAKE_FAIL="tamis_cuda_tests.*EveryOutput"),
                         1)
        self.assertEqual(self.results()["failed"], "bit-equality with the CPU")
        self.assertEqual(list(self.results()["benchmarks"]), ANCHORS + ["small", "others"])

    def test_a_build_that_fails_stops_all(self):
        self.assertEqual(self.run_script("--keep-going", FAKE_FAIL="--build"), 1)
        self.assertEqual(self.results()["failed"], "build")

    def test_results_of_an_interrupted_run_are_kept(self):
        process = self.start(FAKE_SLEEP="GPU_512MiB")
        part = self.out / "benchmark-512MiB.json.part"
        deadline = time.monotonic() + 600
        while not (part.exists() and part.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        begin = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=500)
        self.assertEqual(process.returncode, 1)
        self.assertLess(time.monotonic() - begin, 500, "it waited for what was running")
        results = self.results()
        self.assertEqual(results["failed"], "interrupted")
        self.assertEqual(results["benchmarks"],
                         {"16MiB": {"sizes": "GPU_16MiB"}, "1024MiB": {"sizes": "GPU_1024MiB"},
                          "512MiB": {"part of": "GPU_512MiB"}})

    def test_time_that_runs_out(self):
        self.assertEqual(self.run_script("--keep-going", FAKE_LATE="GPU_1024MiB"), 1)
        outcomes = self.outcomes()
        self.assertRegex(outcomes["benchmark 1024MiB: in DRAM"], "^stopped after 60 s$")
        self.assertEqual(outcomes["benchmark 512MiB: cuckoo filters in DRAM"], "no time left")
        self.assertEqual(outcomes["benchmark 16MiB: in L2"], "passed")
        self.assertEqual(list(self.results()["benchmarks"]), ["16MiB", "1024MiB"])
        self.assertIn("no time left for benchmark others", self.results()["failed"])

    def test_an_old_run_leaves_nothing(self):
        self.assertEqual(self.run_script(), 0, self.stderr)
        self.assertEqual(self.run_script(FAKE_FAIL="tamis_cuda_tests.*EveryOutput"), 1)
        self.assertEqual(self.results()["benchmarks"], {})


if __name__ == "__main__":
    unittest.main()
