// SPDX-License-Identifier: GPL-2.0
/*
 * A scheduler's tunables and counters, as files in /sys/block/DISK/queue/iosched.  A value outside
 * the tunable's range is refused with ERANGE.
 */
#include "iosched.h"

static ssize_t show_field(struct elevator_queue *eq, const struct sched_field *field,
			  char *page)
{
	struct iosched *is = eq->elevator_data;

	return sysfs_emit(page, "%llu\n",
			  READ_ONCE(*sched_field_value(is->state, field)));
}

static ssize_t store_tunable(struct elevator_queue *eq, u32 index, const char *page,
			     size_t count)
{
	const struct sched_field *field = &module_scheduler->tunables[index];
	struct iosched *is = eq->elevator_data;
	u64 value;
	int ret = kstrtou64(page, 0, &value);

	if (ret)
		return ret;
	if (value < field->min || value > field->max)
		return -ERANGE;
	spin_lock_irq(&is->lock);
	*sched_field_value(is->state, field) = value;
	contract_tuned(&is->contract);
	is->waiting = false;
	spin_unlock_irq(&is->lock);
	blk_mq_run_hw_queues(is->q, true);
	return count;
}

/*
 * An elevator's sysfs callback is not given the attribute that was accessed, so each attribute has
 * its own callback.
 */
/* clang-format off */
#define FOR_EACH_FIELD(F) \
	F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) \
	F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15)
/* clang-format on */
#define DEFINE_CALLBACKS(n)                                                           \
	static ssize_t show_tunable_##n(struct elevator_queue *eq, char *page)        \
	{                                                                             \
		return show_field(eq, &module_scheduler->tunables[n], page);          \
	}                                                                             \
	static ssize_t store_tunable_##n(struct elevator_queue *eq, const char *page, \
					 size_t count)                                \
	{                                                                             \
		return store_tunable(eq, n, page, count);                             \
	}                                                                             \
	static ssize_t show_counter_##n(struct elevator_queue *eq, char *page)        \
	{                                                                             \
		return show_field(eq, &module_scheduler->counters[n], page);          \
	}
FOR_EACH_FIELD(DEFINE_CALLBACKS)

#define TUNABLE_CALLBACKS(n) { .show = show_tunable_##n, .store = store_tunable_##n },
#define COUNTER_CALLBACKS(n) { .show = show_counter_##n },

static const struct elv_fs_entry tunable_entries[] = { FOR_EACH_FIELD(
	TUNABLE_CALLBACKS) };
static const struct elv_fs_entry counter_entries[] = { FOR_EACH_FIELD(
	COUNTER_CALLBACKS) };

struct elv_fs_entry iosched_attributes[2 * SCHED_FIELDS_MAX + 1];

void iosched_fill_attributes(void)
{
	struct elv_fs_entry *entry = iosched_attributes;
	u32 i;

	BUILD_BUG_ON(ARRAY_SIZE(tunable_entries) < SCHED_FIELDS_MAX);
	for (i = 0; i < module_scheduler->nr_tunables; i++) {
		*entry = tunable_entries[i];
		entry->attr.name = module_scheduler->tunables[i].name;
		entry++->attr.mode = 0644;
	}
	for (i = 0; i < module_scheduler->nr_counters; i++) {
		*entry = counter_entries[i];
		entry->attr.name = module_scheduler->counters[i].name;
		entry++->attr.mode = 0444;
	}
}
