"""Sources of resource counts: the kernel's accounting, a tracer of system calls, a simulation of caches."""
