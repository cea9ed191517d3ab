"""Configuration files that are right, for tests that make them wrong."""

FULL = r"""
program:
  runtime: native
  setup: apt-get install -y autoconf
  build: make -j$(nproc)
  build_timeout: 15m
  run: ./xz {options} --stdout {workload}
  stdin: null
  timeout: 60s
  ok_exit: [0]
  parallel: false
  env: {LC_ALL: C, SEED: 1}
  pass_env: [JAVA_HOME]
workloads:
  text: {path: bench/text.txt, prepare: ./bench/make-text.sh}
options:
  extreme: {flag: --extreme, default: false}
  sparse: {flag: {on: --sparse, off: --no-sparse}}
  check:   {choice: {none: --check=none, crc64: --check=crc64}, default: crc64}
  level:   {number: [0, 3, 6, 9], flag: "-{value}", default: 6}
  cache:   {choice: {small: "64", large: "4096"}, env: CACHE_KB}
  format:  {choice: [--xz, --lzma]}
files: {conf/app.json: bench/app.json.j2}
constraints: ["extreme implies level >= 3", "not (check=none and extreme)"]
metrics: [cpu, wall, {max_rss: {threshold: 5%}},
  {throughput: {regex: 'rate=(\d+)', better: higher, unit: MB/s}}]
threshold: 1%
false_alarms: 1%
budget: {pull_request: 5m, nightly: 60m, bisect: 1h}
overhead: 10%
history: [{store: branch, ref: suspects-history}, {store: artifact}]
sandbox: auto
"""

TABLE = """
program: {table: perf.csv, revision: commit, metric: perf}
options:
  a: {flag: ""}
  size: {choice: [small, large]}
  n: {number: [1, 2, 4]}
"""

CALLABLE = """
program: {callable: "world:run", revisions: 2000}
options:
  a: {flag: --a}
  b: {flag: --b, default: true}
"""

OFFLINE = [TABLE, CALLABLE]
