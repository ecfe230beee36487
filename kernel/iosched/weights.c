// SPDX-License-Identifier: GPL-2.0
/*
 * Weights that the user assigns to owners.  An assigned weight replaces the weight that follows
 * from the I/O priority.
 *
 *	/sys/module/NAME/parameters/weights    "OWNER:WEIGHT OWNER:WEIGHT ...", separated by spaces
 *	                                       or commas, or nothing
 *
 * A newly written text replaces all weights, and applies to requests that arrive later.  A refused
 * text changes nothing.
 *
 * Locking: a spinlock guards the weights.  The spinlock is taken with interrupts off, either under
 * the lock of a disk or while no other lock is held.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "iosched.h"

#define OWNERS_MAX 64
#define WEIGHT_MAX 10000 /* the same maximum as for io.weight */

struct weights {
	u32 nr;
	struct {
		u32 owner, weight;
	} of[OWNERS_MAX];
};

static DEFINE_SPINLOCK(weights_lock);
static struct weights weights;

u32 weight_given(u32 owner)
{
	unsigned long flags;
	u32 weight = 0;
	u32 i;

	if (!READ_ONCE(weights.nr))
		return 0;
	spin_lock_irqsave(&weights_lock, flags);
	for (i = 0; i < weights.nr && !weight; i++)
		if (weights.of[i].owner == owner)
			weight = weights.of[i].weight;
	spin_unlock_irqrestore(&weights_lock, flags);
	return weight;
}

static int parse_one(struct weights *list, char *word)
{
	char *owner = strsep(&word, ":");
	u32 i;
	int ret;

	if (!word)
		return -EINVAL;
	if (list->nr == OWNERS_MAX)
		return -E2BIG;
	ret = kstrtou32(owner, 10, &list->of[list->nr].owner)
		      ?: kstrtou32(word, 10, &list->of[list->nr].weight);
	if (ret)
		return ret;
	if (!list->of[list->nr].weight || list->of[list->nr].weight > WEIGHT_MAX)
		return -ERANGE;
	for (i = 0; i < list->nr; i++)
		if (list->of[i].owner == list->of[list->nr].owner)
			return -EEXIST;
	list->nr++;
	return 0;
}

static int parse(struct weights *list, char *text)
{
	char *word;
	int ret = 0;

	while (!ret && (word = strsep(&text, " ,\n")))
		if (*word)
			ret = parse_one(list, word);
	return ret;
}

static int weights_set(const char *text, const struct kernel_param *param)
{
	struct weights *list = kzalloc(sizeof(*list), GFP_KERNEL);
	char *words = kstrdup(text, GFP_KERNEL);
	unsigned long flags;
	int ret = list && words ? parse(list, words) : -ENOMEM;

	if (!ret) {
		spin_lock_irqsave(&weights_lock, flags);
		weights = *list;
		spin_unlock_irqrestore(&weights_lock, flags);
	}
	kfree(words);
	kfree(list);
	return ret;
}

/* Prints the weights.  Meanwhile the lock of the module parameters prevents changes. */
static int weights_get(char *page, const struct kernel_param *param)
{
	int length = 0;
	u32 i;

	for (i = 0; i < weights.nr; i++)
		length += scnprintf(page + length, PAGE_SIZE - length,
				    i ? " %u:%u" : "%u:%u", weights.of[i].owner,
				    weights.of[i].weight);
	return length + scnprintf(page + length, PAGE_SIZE - length, "\n");
}

static const struct kernel_param_ops weights_ops = {
	.set = weights_set,
	.get = weights_get,
};

module_param_cb(weights, &weights_ops, NULL, 0644);
MODULE_PARM_DESC(weights, "OWNER:WEIGHT ..., 1 to 10000; others by their I/O priority");
