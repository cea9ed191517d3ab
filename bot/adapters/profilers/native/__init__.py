"""Profilers of compiled programs: callgrind, perf or gperftools, uftrace, Frida."""
