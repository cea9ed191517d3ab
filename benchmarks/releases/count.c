/* A plug-in of QEMU's user mode (plug-in interface 1: QEMU 4.2 to 8) that counts the instructions of a program.

   Debian has no header of that interface; what is used of it is declared here. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

struct block;
typedef uint64_t plugin;
enum operation { ADD };

size_t qemu_plugin_tb_n_insns(const struct block *);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin, void (*)(plugin, struct block *));
void qemu_plugin_register_vcpu_tb_exec_inline(struct block *, enum operation, void *, uint64_t);
void qemu_plugin_register_atexit_cb(plugin, void (*)(plugin, void *), void *);

int qemu_plugin_version = 1;
static uint64_t instructions;

static void translated(plugin id, struct block *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD, &instructions, qemu_plugin_tb_n_insns(block));
}

static void ended(plugin id, void *nothing)
{
    (void)id, (void)nothing;
    fprintf(stderr, "\ninstructions: %" PRIu64 "\n", instructions);
}

int qemu_plugin_install(plugin id, const void *machine, int count, char **arguments)
{
    (void)machine, (void)count, (void)arguments;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
