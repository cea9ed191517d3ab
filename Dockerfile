# The image of the action: the bot, the tool chain that builds subject programs, and the profilers that watch them.
# The JDK is without its modules for linking other JVMs, which are a third of it; the image stays below 1.8 GB.
FROM debian:bookworm-slim

# What each line is for:
#   the bot           its Python, git for revisions, certificates for GitHub
#   native programs   compilers, make, and the generators whose output releases do not contain
#   python programs   headers for extension modules, venv for their dependencies
#   node programs     the runtime, and npm for `build`
#   JVM programs      java, and javac, which also compiles what profiles them
#   profilers         callgrind (instructions, calls), elfutils (files and lines), perf and gperftools (where time goes), uftrace (durations of calls),
#                     strace (system calls), stress-ng (profiles of machines)
# Java's packages want to link a page into the folder of manuals, which slim images may not have.
# Debian's archive keeps only the newest version of a package, so that pinned versions would break with each security
# update. What users run is pinned whole: a release pins the published image by digest.
# hadolint ignore=DL3008
RUN apt-get update \
    && mkdir -p /usr/share/man/man1 \
    && apt-get install --yes --no-install-recommends \
        ca-certificates git python3 python3-venv \
        build-essential autoconf automake libtool pkg-config cmake \
        python3-dev \
        nodejs npm \
        default-jdk-headless \
        valgrind elfutils linux-perf libgoogle-perftools4 uftrace strace stress-ng \
    && apt-get clean \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /usr/lib/jvm/*/jmods

# Dependencies first: they change less often than the bot, and the layer is kept between builds.
COPY requirements.lock /opt/suspects/
RUN python3 -m venv /opt/suspects/venv \
    && /opt/suspects/venv/bin/pip install --no-cache-dir --require-hashes --only-binary :all: \
        --requirement /opt/suspects/requirements.lock

COPY pyproject.toml README.md /opt/suspects/source/
COPY templates /opt/suspects/source/templates
COPY bot /opt/suspects/source/bot
RUN /opt/suspects/venv/bin/pip install --no-cache-dir --no-deps --no-build-isolation /opt/suspects/source \
    && ln -s /opt/suspects/venv/bin/suspects /usr/local/bin/suspects

# Root on purpose: user code gets accounts of its own, one per side, which only root can give.
ENTRYPOINT ["suspects", "action"]
