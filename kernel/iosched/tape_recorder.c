// SPDX-License-Identifier: GPL-2.0
/*
 * Records every call into the scheduler on a tape (core/tape.h), from the time when a disk selects
 * the scheduler until the disk selects another one.
 *
 *	insmod NAME.ko tape_calls=N      makes a tape with room for N calls; 0, the default: no tape
 *	/sys/module/NAME/tape            the tape, readable when the disk no longer uses the
 *	                                 scheduler; EBUSY before; the next disk overwrites it
 *
 * While the tape records one disk, it ignores other disks.  Calls that do not fit are counted and
 * dropped.
 *
 * Locking: the mutex decides whether a disk or a reader owns the tape.  No other lock is taken
 * while the mutex is held.  tape_begin and tape_end take the mutex under a queue's sysfs_lock.
 * Readers take the mutex while they hold none of the project's locks.  Calls of the disk that owns
 * the tape are recorded under that disk's lock.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sysfs.h>
#include <linux/vmalloc.h>

#include "iosched.h"

#define TAPE_CALLS_MAX 10000000

struct tape {
	struct tape_header header;
	struct tape_call call[];
};

static unsigned int tape_calls;
module_param(tape_calls, uint, 0444);
MODULE_PARM_DESC(tape_calls, "room on the tape, in calls; 0: no tape");

static DEFINE_MUTEX(tape_mutex);
static struct tape *tape;
static bool tape_in_use; /* true: a disk owns the tape */

static void rewind_tape(const struct sched_limits *limits)
{
	tape->header = (struct tape_header){
		.magic = TAPE_MAGIC,
		.header_bytes = sizeof(struct tape_header),
		.call_bytes = sizeof(struct tape_call),
		.room = tape_calls,
		.capacity_sectors = limits->capacity_sectors,
		.max_requests = limits->max_requests,
		.depth = limits->depth,
	};
	strscpy(tape->header.scheduler, module_scheduler->name, TAPE_NAME_BYTES);
}

struct tape *tape_begin(const struct sched_limits *limits)
{
	struct tape *begun = NULL;

	mutex_lock(&tape_mutex);
	if (tape && !tape_in_use) {
		tape_in_use = true;
		rewind_tape(limits);
		begun = tape;
	}
	mutex_unlock(&tape_mutex);
	return begun;
}

void tape_end(struct tape *ended)
{
	if (!ended)
		return;
	mutex_lock(&tape_mutex);
	tape_in_use = false;
	mutex_unlock(&tape_mutex);
}

void tape_record(struct tape *on, const struct tape_call *call)
{
	u64 at = on->header.calls++;

	if (at < on->header.room)
		on->call[at] = *call;
}

static ssize_t tape_read(struct file *file, struct kobject *kobj,
			 struct bin_attribute *attr, char *buffer, loff_t position,
			 size_t count)
{
	ssize_t ret = -EBUSY;
	u64 calls;

	mutex_lock(&tape_mutex);
	if (!tape_in_use) {
		calls = min(tape->header.calls, tape->header.room);
		ret = memory_read_from_buffer(buffer, count, &position, tape,
					      struct_size(tape, call, calls));
	}
	mutex_unlock(&tape_mutex);
	return ret;
}

/* Readable by root only: the tape shows who accessed which sectors. */
static BIN_ATTR_ADMIN_RO(tape, 0);

int tape_init(void)
{
	int ret;

	BUILD_BUG_ON(sizeof(struct tape_header) != 64);
	BUILD_BUG_ON(sizeof(struct tape_call) != 64);
	if (!tape_calls)
		return 0;
	if (tape_calls > TAPE_CALLS_MAX)
		return -ERANGE;
	tape = vzalloc(struct_size(tape, call, tape_calls));
	if (!tape)
		return -ENOMEM;
	rewind_tape(&(struct sched_limits){});
	ret = sysfs_create_bin_file(&THIS_MODULE->mkobj.kobj, &bin_attr_tape);
	if (ret)
		vfree(tape);
	return ret;
}

void tape_exit(void)
{
	if (!tape)
		return;
	sysfs_remove_bin_file(&THIS_MODULE->mkobj.kobj, &bin_attr_tape);
	vfree(tape);
}
