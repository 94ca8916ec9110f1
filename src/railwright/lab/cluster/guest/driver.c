// SPDX-License-Identifier: GPL-2.0
/*
 * Stands for a driver of NVIDIA's on a virtual node: it is loaded, has a name and a version, and drives nothing.
 *
 * Compiled once a driver, with its version where it has one (STANDS_FOR_VERSION), and with /proc/driver/nvidia/version
 * where it has that (SHOWS_VERSION_IN_PROC).
 */
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#ifdef SHOWS_VERSION_IN_PROC
static int show(struct seq_file *file, void *data)
{
	seq_printf(file, "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  %s  Release Build  (stand-in)\n",
		   SHOWS_VERSION_IN_PROC);
	return 0;
}

static struct proc_dir_entry *folder;

static int __init begin(void)
{
	folder = proc_mkdir("driver/nvidia", NULL);
	if (!folder)
		return -ENOMEM;
	return proc_create_single("version", 0444, folder, show) ? 0 : -ENOMEM;
}

static void __exit end(void)
{
	proc_remove(folder);
}
#else
static int __init begin(void)
{
	return 0;
}

static void __exit end(void)
{
}
#endif

module_init(begin);
module_exit(end);
#ifdef STANDS_FOR_VERSION
MODULE_VERSION(STANDS_FOR_VERSION);
#endif
MODULE_DESCRIPTION("Stand-in for a driver, for virtual nodes: drives nothing");
MODULE_LICENSE("GPL");
