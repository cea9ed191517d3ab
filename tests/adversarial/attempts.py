"""A hostile program: makes each attempt and writes which of them succeeded (`attempts.py TARGETS build`)."""

# Run by the machine's own Python, in builds and trials: standard library only. A function is an attempt; it
# returns something true when it succeeded. `T` says what to attack.

# ruff: noqa: BLE001, PTH123, PTH208, PTH211  (an attack is written plainly, and any error is its failure)

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import socket
import struct
import sys
from pathlib import Path
from typing import Any

T: dict[str, Any] = {}
libc = ctypes.CDLL(None, use_errno=True)
SYS = {
    "ptrace": 101, "process_vm_readv": 310, "pidfd_open": 434, "pidfd_getfd": 438, "keyctl": 250, "bpf": 321,
    "perf_event_open": 298, "userfaultfd": 323, "io_uring_setup": 425, "unshare": 272, "mount": 165,
    "clone": 56, "clone3": 435, "add_key": 248, "init_module": 175, "kexec_load": 246,
    "open_by_handle_at": 304,
}  # fmt: skip


def call(name: str, *arguments: object) -> bool:
    """Whether a system call (numbers of x86_64) does not fail."""
    return int(libc.syscall(SYS[name], *arguments)) >= 0


def has_token(data: bytes) -> bool:
    return T["token"].encode() in data


def read_our_token_in_the_environment() -> bool:
    return any(has_token(value.encode(errors="replace")) for value in os.environ.values())


def read_our_token_in_the_environments_of_all_processes() -> bool:
    found = False
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                found |= has_token(Path(f"/proc/{name}/environ").read_bytes())
            except OSError:
                continue
    return found


def read_our_token_in_our_memory() -> bool:
    return bool(Path(f"/proc/{T['victim']}/mem").open("rb"))


def trace_us_with_ptrace() -> bool:
    return call("ptrace", 16, T["victim"], 0, 0)


def trace_what_started_it_with_ptrace() -> bool:
    return call("ptrace", 0x4206, starter(), 0, 0)


def starter() -> int:
    """The nearest ancestor that is no process of the program: of another session."""
    pid = os.getppid()
    while os.getsid(pid) == os.getsid(0):
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pid


def read_our_memory_with_process_vm_readv() -> bool:
    local = ctypes.create_string_buffer(8)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(local), 8)
    maps = Path(f"/proc/{T['victim']}/maps").read_text()
    remote = (ctypes.c_void_p * 2)(int(maps.split("-")[0], 16), 8)
    return call("process_vm_readv", T["victim"], vector, 1, remote, 1, 0)


def take_a_file_descriptor_of_ours() -> bool:
    handle = libc.syscall(SYS["pidfd_open"], T["victim"], 0)
    try:
        return call("pidfd_getfd", handle, 1, 0)
    finally:
        os.close(handle)


def find_a_file_descriptor_of_ours_that_was_left_open() -> bool:
    for number in range(3, 4096):
        try:
            name = str(Path(f"/proc/self/fd/{number}").readlink())
        except OSError:
            continue
        if Path(name).name != Path(__file__).name:  # which Python holds open itself
            return True
    return False


def write_into_our_output_through_proc() -> bool:
    return bool(open(f"/proc/{T['victim']}/fd/1", "w"))


def read_the_runners_temporary_folder() -> bool:
    return has_token(Path(T["runner_temp"], "git-credentials").read_bytes())


def list_the_runners_temporary_folder() -> bool:
    return bool(os.listdir(T["runner_temp"]))


def read_the_credentials_in_the_checkouts_git_config() -> bool:
    return has_token(Path(T["workspace"], ".git", "config").read_bytes())


def ask_gits_credential_helper() -> bool:
    import subprocess

    asked = subprocess.run(
        ["git", "-C", T["workspace"], "credential", "fill"],
        input="protocol=https\nhost=github.com\n\n", capture_output=True, text=True, timeout=20,
        env={**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_GLOBAL": f"{T['workspace']}/.git/config"},
    )  # fmt: skip
    return has_token(asked.stdout.encode())


def read_the_event_file() -> bool:
    return bool(Path(T["runner_temp"], "event.json").read_bytes())


def write_the_runners_command_files() -> bool:
    return bool(Path(T["runner_temp"], "set_output").open("a").write("verdict=none\n"))


def speak_to_dockers_socket() -> bool:
    return speaks(socket.AF_UNIX, T["docker_socket"])


def speaks(family: int, address: Any, kind: int = socket.SOCK_STREAM) -> bool:
    with socket.socket(family, kind) as one:
        one.settimeout(3)
        one.connect(address)
        return True


def reach_the_network_over_ipv4() -> bool:
    return speaks(socket.AF_INET, ("127.0.0.1", T["port"]))


def reach_the_network_over_ipv6() -> bool:
    return speaks(socket.AF_INET6, ("::1", T["port6"]))


def reach_the_network_over_udp() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        return bool(one.sendto(b"x", ("127.0.0.1", T["port"])))


def reach_a_name_server() -> bool:
    return bool(socket.getaddrinfo("github.com", 443))


def open_a_raw_socket() -> bool:
    return bool(socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))


def open_a_packet_socket() -> bool:
    return bool(socket.socket(socket.AF_PACKET, socket.SOCK_RAW))


def bring_a_network_device_up_over_netlink() -> bool:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as one:
        one.bind((0, 0))
        one.send(struct.pack("=IHHIIBBHiII", 32, 16, 5, 1, 0, 0, 0, 0, 1, 1, 1))
        answer = one.recv(4096)
        return len(answer) >= 20 and struct.unpack_from("=i", answer, 16)[0] == 0


def reach_the_host_over_vsock() -> bool:
    return bool(socket.socket(40, socket.SOCK_STREAM))


def use_the_kernels_cryptography_sockets() -> bool:
    return bool(socket.socket(38, socket.SOCK_SEQPACKET))


def reach_an_abstract_socket_of_ours() -> bool:
    return speaks(socket.AF_UNIX, "\0" + T["abstract"])


def open_sockets_with_io_uring() -> bool:
    return call("io_uring_setup", 1, ctypes.create_string_buffer(120))


def listen_for_others() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        one.bind(("127.0.0.1", T["free_port"]))
        one.listen()
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as other:
            other.connect(("127.0.0.1", T["port"]))
        return True


def kill_us() -> bool:
    os.kill(T["victim"], signal.SIGKILL)
    return True


def stop_us() -> bool:
    os.kill(T["victim"], signal.SIGSTOP)
    return True


def kill_what_started_it() -> bool:
    os.kill(starter(), signal.SIGKILL)
    return True


def kill_all_it_may() -> bool:
    """Succeeds when anything but itself may be signalled."""
    others = [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    for pid in others:
        try:
            os.kill(pid, 0)
        except OSError:
            continue
        if os.getsid(pid) != os.getsid(0):
            return True
    return False


def take_priority_over_others() -> bool:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    return True


def take_priority_by_being_less_nice() -> bool:
    return os.nice(-5) < 0


def be_spared_when_memory_runs_out() -> bool:
    with open("/proc/self/oom_score_adj", "w") as file:
        return bool(file.write("-1000"))


def raise_its_own_limits() -> bool:
    for kind in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE, resource.RLIMIT_NPROC):
        hard = resource.getrlimit(kind)[1]
        if hard == resource.RLIM_INFINITY:
            return kind != resource.RLIMIT_NPROC or bool(T["account"])
        resource.setrlimit(kind, (hard, hard + 1))
    return True


def be_granted_more_processes_than_the_machine_bears() -> bool:
    return bool(resource.getrlimit(resource.RLIMIT_NPROC)[1] > T["processes"])


def write_a_file_without_end() -> bool:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with open(f"{os.environ['HOME']}/sparse", "wb") as file:
        file.truncate(T["file_size"] + 1)
    return True


def dump_core() -> bool:
    return resource.getrlimit(resource.RLIMIT_CORE)[1] > 0


def write_in_the_machines_temporary_folder() -> bool:
    return made("/tmp/attempt")


def write_in_the_other_temporary_folder() -> bool:
    return made("/var/tmp/attempt")


def write_in_a_folder_that_is_open_to_everybody() -> bool:
    return made(f"{T['open_folder']}/attempt")


def write_in_a_system_folder() -> bool:
    return made("/usr/local/bin/attempt") or made("/etc/cron.d/attempt") or made("/etc/ld.so.preload")


def write_in_the_workspace() -> bool:
    return made(f"{T['workspace']}/attempt") or made(f"{T['workspace']}/.git/hooks/post-checkout")


def made(path: str) -> bool:
    try:
        with open(path, "w"):
            return True
    except OSError:
        return False


def read_a_file_that_is_open_to_everybody() -> bool:
    return bool(Path(T["open_folder"], "secret").read_bytes()) and not T["account"]


def list_the_machines_temporary_folder() -> bool:
    return bool(os.listdir("/tmp"))


def read_homes_of_others() -> bool:
    return bool(os.listdir("/root")) or bool(os.listdir("/home"))


def reach_a_secret_through_a_symbolic_link() -> bool:
    link = f"{os.environ['HOME']}/link"
    if not os.path.lexists(link):
        os.symlink(T["runner_temp"], link)
    return bool(os.listdir(link))


def make_a_secret_its_own_by_a_hard_link() -> bool:
    os.link(f"{T['runner_temp']}/git-credentials", f"{os.environ['HOME']}/hard")
    return True


def become_root_by_a_set_uid_program() -> bool:
    import subprocess

    for words in (["su", "-c", "id -u"], ["sudo", "-n", "id", "-u"], [T["set_uid"], "-u"]):
        try:
            done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20)
        except OSError:
            continue
        if done.stdout.strip() == "0" and os.getuid() != 0:
            return True
    return False


def become_root_in_a_user_namespace() -> bool:
    return call("unshare", 0x10000000)


def become_root_in_a_user_namespace_of_a_child() -> bool:
    pid = libc.syscall(SYS["clone"], 0x10000000 | 17, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    return bool(pid > 0)


def become_root_in_a_user_namespace_by_the_newer_call() -> bool:
    pid = libc.syscall(SYS["clone3"], struct.pack("=8Q", 0x10000000, 0, 0, 0, 17, 0, 0, 0), 64)
    if pid == 0:
        os._exit(0)
    return bool(pid > 0)


def mount_a_file_system() -> bool:
    return call("mount", b"none", b"/tmp", b"tmpfs", 0, 0)


def leave_its_root_folder() -> bool:
    os.chroot("/")
    return True


def load_a_kernel_module() -> bool:
    return call("init_module", b"", 0, b"")


def load_another_kernel() -> bool:
    return call("kexec_load", 0, 0, 0, 0)


def run_code_in_the_kernel() -> bool:
    return call("bpf", 0, ctypes.create_string_buffer(120), 120)


def watch_others_with_counters() -> bool:
    attributes = struct.pack("=IIQ", 1, 120, 1).ljust(120, b"\0")
    return call("perf_event_open", attributes, T["victim"], -1, -1, 0)


def handle_faults_of_the_kernel() -> bool:
    return call("userfaultfd", 0)


def look_into_our_keys() -> bool:
    return call("keyctl", 0, -3, 0)


def leave_keys() -> bool:
    return call("add_key", b"user", b"attempt", b"x", 1, -4)


def open_a_file_by_its_number() -> bool:
    return call("open_by_handle_at", -100, struct.pack("=II8x", 8, 1), 0)


def change_how_the_kernel_works() -> bool:
    return made("/proc/sys/kernel/core_pattern") or made("/proc/sysrq-trigger") or made("/sys/power/state")


def read_the_disk_or_the_memory_of_the_machine() -> bool:
    found = False
    for name in ("mem", "kmsg", "port", "kcore", "vda", "sda", "nvme0n1", "fuse", "kvm", "vsock", "dm-0"):
        try:
            os.close(os.open(f"/dev/{name}", os.O_RDWR))
            found = True
        except OSError:
            continue
    return found


def type_into_our_terminal() -> bool:
    import fcntl

    with open("/dev/tty", "w") as terminal:
        fcntl.ioctl(terminal, 0x5412, b"x")
    return True


TOOLS = {"call", "has_token", "speaks", "made", "starter"}
ATTEMPTS = [
    name
    for name, thing in list(globals().items())
    if callable(thing) and getattr(thing, "__module__", "") == __name__ and name not in TOOLS
]


def us() -> int:
    """The process of ours that has the token: its command line names the report."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                words = Path(f"/proc/{name}/cmdline").read_bytes()
            except OSError:
                continue
            if T["report"].encode() in words and b"-m\0bot\0" in words:
                return int(name)
    raise OSError(errno.ESRCH, "we are not there")


def main() -> None:
    T.update(json.loads(Path(sys.argv[1]).read_text()))
    T["victim"] = us()
    results: dict[str, str] = {}
    for name in ATTEMPTS:
        try:
            results[name] = "succeeded" if globals()[name]() else "failed"
        except Exception as error:
            results[name] = f"{type(error).__name__}: {error}"
    with socket.socket(socket.AF_UNIX) as told:  # a door that is open to everybody: see docs/security.md
        told.connect(T["answers"])
        told.sendall(json.dumps([sys.argv[2], results]).encode())


if __name__ == "__main__":
    main()
