// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/vpt/DISK: what of the profile is a curve.
 *
 *	seek_curve              "sectors:ns sectors:ns ...", 0 to the capacity
 *	transfer_curve          "sector:ps sector:ps ...", 0 to the capacity, or nothing
 *	tracks                  "sector:sectors sector:sectors ...", from 0 on, or nothing
 *	zone_angles             when the sectors of each of those pass, or nothing (platter_text.h)
 *
 * Their text is longer than a page, so these are binary attributes: it comes and goes
 * in pieces.  A curve is complete, and takes effect, with its newline.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "platter_text.h"
#include "sysfs.h"

static struct bin_attribute bin_attr_seek_curve;
static struct bin_attribute bin_attr_transfer_curve;
static struct bin_attribute bin_attr_zone_angles;

static struct curve *curve_of(struct vpt_model *model, const struct bin_attribute *attr)
{
	struct disk *disk = &model->device.drive.disk;

	if (attr == &bin_attr_seek_curve)
		return &disk->seek;
	return attr == &bin_attr_transfer_curve ? &disk->transfer : &disk->tracks;
}

static u64 largest_value(const struct bin_attribute *attr)
{
	if (attr == &bin_attr_seek_curve)
		return VPT_HOLD_MAX_NS;
	return attr == &bin_attr_transfer_curve ? DISK_SECTOR_PS_MAX
						: TRACKS_SECTORS_MAX;
}

static size_t print(struct vpt_model *model, const struct bin_attribute *attr,
		    char *text)
{
	const struct curve *curve = curve_of(model, attr);
	size_t length = 0;
	u32 i;

	if (attr == &bin_attr_zone_angles)
		return vpt_platter_print(&model->device.drive.disk.platter, text,
					 VPT_CURVE_TEXT_MAX);
	for (i = 0; i < curve->nr_points; i++)
		length += scnprintf(text + length, VPT_CURVE_TEXT_MAX - length,
				    i ? " %llu:%llu" : "%llu:%llu", curve->point[i].at,
				    curve->point[i].value);
	return length;
}

static ssize_t curve_read(struct file *file, struct kobject *kobj,
			  struct bin_attribute *attr, char *buffer, loff_t position,
			  size_t count)
{
	struct vpt_disk *disk = vpt_disk_of(kobj);
	char *text = kvmalloc(VPT_CURVE_TEXT_MAX, GFP_KERNEL);
	size_t length;
	ssize_t ret;

	if (!text)
		return -ENOMEM;
	mutex_lock(&disk->control);
	length = print(&disk->model, attr, text);
	mutex_unlock(&disk->control);
	length += scnprintf(text + length, VPT_CURVE_TEXT_MAX - length, "\n");
	ret = memory_read_from_buffer(buffer, count, &position, text, length);
	kvfree(text);
	return ret;
}

static int parse_point(struct curve_point *point, char *word)
{
	char *at = strsep(&word, ":");

	if (!word)
		return -EINVAL;
	return kstrtou64(at, 10, &point->at) ?: kstrtou64(word, 10, &point->value);
}

static int parse_curve(struct curve *curve, char *text, u64 max)
{
	struct curve_point *point = curve->point;
	char *word;
	int ret;

	while ((word = strsep(&text, " \t\n"))) {
		if (!*word)
			continue;
		if (point == curve->point + CURVE_POINTS_MAX)
			return -E2BIG;
		ret = parse_point(point, word);
		if (ret)
			return ret;
		if (point++->value > max)
			return -ERANGE;
	}
	curve->nr_points = point - curve->point;
	return 0;
}

static int parse(struct vpt_model *model, const struct bin_attribute *attr, char *text)
{
	if (attr == &bin_attr_zone_angles)
		return vpt_platter_parse(&model->device.drive.disk.platter, text);
	return parse_curve(curve_of(model, attr), text, largest_value(attr));
}

static void take(struct vpt_model *model, struct vpt_model *changed,
		 const struct bin_attribute *attr)
{
	if (attr == &bin_attr_zone_angles)
		model->device.drive.disk.platter = changed->device.drive.disk.platter;
	else
		*curve_of(model, attr) = *curve_of(changed, attr);
}

/* All of the new curve or all of the old one, whatever is being served. */
static int replace_curve(struct vpt_disk *disk, const struct bin_attribute *attr)
{
	struct vpt_model *changed = vpt_model_copy(disk);
	unsigned long flags;
	int ret;

	if (!changed)
		return -ENOMEM;
	ret = parse(changed, attr, disk->incoming.text);
	ret = ret ?: vpt_model_check(changed, disk->bdev);
	if (!ret) {
		raw_spin_lock_irqsave(&disk->lock, flags);
		vpt_keep_checked_scale(disk, changed);
		take(&disk->model, changed, attr);
		command_queue_aim(&disk->model.device.queue, &disk->model.device.drive);
		raw_spin_unlock_irqrestore(&disk->lock, flags);
	}
	kvfree(changed);
	return ret;
}

/* Another piece; a write at the beginning of the file gives up what was unfinished. */
static int take_piece(struct vpt_curve_text *incoming, struct file *file,
		      const char *piece, loff_t position, size_t count)
{
	if (!position) {
		incoming->file = file;
		incoming->length = 0;
	}
	if (file != incoming->file || position != incoming->length)
		return -EINVAL;
	if (count > VPT_CURVE_TEXT_MAX - incoming->length)
		return -E2BIG;
	memcpy(incoming->text + incoming->length, piece, count);
	incoming->length += count;
	incoming->text[incoming->length] = '\0';
	return 0;
}

static ssize_t curve_write(struct file *file, struct kobject *kobj,
			   struct bin_attribute *attr, char *buffer, loff_t position,
			   size_t count)
{
	struct vpt_disk *disk = vpt_disk_of(kobj);
	bool complete;
	int ret;

	mutex_lock(&disk->control);
	ret = take_piece(&disk->incoming, file, buffer, position, count);
	complete = buffer[count - 1] == '\n';
	if (!ret && complete)
		ret = replace_curve(disk, attr);
	if (ret || complete)
		disk->incoming.length = 0;
	mutex_unlock(&disk->control);
	return ret ?: count;
}

static BIN_ATTR(seek_curve, 0644, curve_read, curve_write, 0);
static BIN_ATTR(transfer_curve, 0644, curve_read, curve_write, 0);
static BIN_ATTR(tracks, 0644, curve_read, curve_write, 0);
static BIN_ATTR(zone_angles, 0644, curve_read, curve_write, 0);

static struct bin_attribute *curves_attrs[] = {
	&bin_attr_seek_curve,
	&bin_attr_transfer_curve,
	&bin_attr_tracks,
	&bin_attr_zone_angles,
	NULL,
};

const struct attribute_group vpt_curves_group = { .bin_attrs = curves_attrs };
