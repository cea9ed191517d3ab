# The image of the action: the bot, the tool chain that builds subject programs, and the profilers that watch them.
# Starting it is part of every pull request's wait, so that it stays below 1.55 GB: `make test-container` weighs it.
FROM debian:trixie-slim

# What each line is for:
#   the bot           its Python, git for revisions, certificates for GitHub
#   native programs   compilers, make, and the generators whose output releases do not contain
#   python programs   3.13, whose own monitoring tells single calls; headers for extension modules, venv for their dependencies
#   node programs     the runtime, and npm for `build`
#   JVM programs      Java 25, the oldest that times methods by itself, and javac, which also compiles what profiles them
#   profilers         callgrind (instructions, calls), elfutils (files and lines), perf and gperftools (where time goes), uftrace (durations of calls),
#                     strace (system calls), stress-ng (profiles of machines)
# Java's packages want to link a page into the folder of manuals, which slim images may not have.
# Debian's archive keeps only the newest version of a package, so that pinned versions would break with each security
# update. What users run is pinned whole: a release pins the published image by digest.
# What is removed again is what nothing here runs: the JDK's modules for linking other JVMs and its archives for heaps
# above 32 GB and for small headers of objects, the build tools of npm's parts, valgrind's other tools, static libraries
# of OpenSSL, Python and valgrind, sanitizers, gcc's reader of its own dumps, cmake's makers of packages and tests, the
# drivers of graphics cards that stress-ng's libraries would load, perf for Python.
# hadolint ignore=DL3008
RUN apt-get update \
    && mkdir -p /usr/share/man/man1 \
    && apt-get install --yes --no-install-recommends \
        ca-certificates git python3 python3-venv \
        build-essential autoconf automake libtool pkg-config cmake \
        python3-dev \
        nodejs npm \
        openjdk-25-jdk-headless \
        valgrind elfutils linux-perf libgoogle-perftools4t64 uftrace strace stress-ng \
    && apt-get clean \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /usr/lib/jvm/*/jmods \
    && rm -f /usr/bin/cpack /usr/bin/ctest /usr/bin/*-lto-dump-* /usr/lib/jvm/*/lib/server/classes_*.jsa \
        /usr/lib/*/libLLVM* /usr/lib/*/libgallium* /usr/lib/*/libz3.* /usr/lib/*/gbm/* \
        /usr/lib/python3/dist-packages/perf.* \
        /usr/lib/*/valgrind/*.a /usr/lib/python3*/config-*/*.a /usr/lib/*/libcrypto.a /usr/lib/*/libssl.a \
        /usr/lib/gcc/*/*/lib*san.a /usr/lib/*/lib[ahltu]*san.so* \
    && for tool in dhat drd exp-bbv helgrind lackey massif memcheck none; do rm /usr/libexec/valgrind/$tool-*; done \
    && rm -r /usr/share/nodejs/@babel /usr/share/nodejs/@types /usr/share/nodejs/caniuse-lite \
        /usr/share/nodejs/core-js* /usr/share/nodejs/es-abstract /usr/share/nodejs/eslint* \
        /usr/share/nodejs/lodash* /usr/share/nodejs/regenerate-unicode-properties \
        /usr/share/nodejs/web-streams-polyfill /usr/share/nodejs/webpack*

# Dependencies first: they change less often than the bot, and the layer is kept between builds. Without pip (Debian's
# wheel of it installs), tests, debugging symbols, and the parts of Arrow that speak to other Arrow programs; byte code
# follows, of what is imported only.
COPY requirements.lock /opt/suspects/
RUN python3 -m venv --without-pip /opt/suspects/venv \
    && PYTHONPATH="$(echo /usr/share/python-wheels/pip-*.whl)" /opt/suspects/venv/bin/python -m pip install \
        --no-cache-dir --no-compile --require-hashes --only-binary :all: --requirement /opt/suspects/requirements.lock \
    && find /opt/suspects/venv -type d -name tests -prune -exec rm -r {} + \
    && rm -r /opt/suspects/venv/lib/python3*/site-packages/pyarrow/include \
        /opt/suspects/venv/lib/python3*/site-packages/pyarrow/*_flight* \
    && find /opt/suspects/venv -name '*.so*' -not -path '*.libs/*' -exec strip --strip-unneeded {} +

COPY pyproject.toml README.md /opt/suspects/source/
COPY templates /opt/suspects/source/templates
COPY bot /opt/suspects/source/bot
RUN PYTHONPATH="$(echo /usr/share/python-wheels/pip-*.whl)" /opt/suspects/venv/bin/python -m pip install \
        --no-cache-dir --no-deps --no-build-isolation /opt/suspects/source \
    && /opt/suspects/venv/bin/python -c 'import bot.commands.github, bot.compose.bisecting, bot.compose.measuring, \
        bot.compose.nightly, bot.report.render, bot.adapters.github.artifacts, matplotlib.backends.backend_svg, frida' \
    && ln -s /opt/suspects/venv/bin/suspects /usr/local/bin/suspects

# Root on purpose: user code gets accounts of its own, one per side, which only root can give.
ENTRYPOINT ["suspects", "action"]
