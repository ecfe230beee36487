// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/vpt/DISK: the tables of the profile.  Spaces separate the rows of a table.  Colons
 * separate the numbers of a row.  A row has at least two numbers; missing numbers at its end are 0.
 *
 *	seek_curve              "sectors:ns sectors:ns ...", 0 to the capacity
 *	transfer_curve          "sector:ps sector:ps ...", 0 to the capacity, or nothing
 *	tracks                  a row for each zone, as in struct track_zone, or nothing
 *	tracks_slips            "sector:slipped sector:slipped ...", or nothing
 *
 * The text of a table can be longer than a page, so the tables are binary attributes, which can be
 * read and written in several pieces.  A table takes effect when its newline is written.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "sysfs.h"

static ssize_t table_read(struct file *file, struct kobject *kobj,
			  struct bin_attribute *attr, char *buffer, loff_t position,
			  size_t count);
static ssize_t table_write(struct file *file, struct kobject *kobj,
			   struct bin_attribute *attr, char *buffer, loff_t position,
			   size_t count);

/**
 * struct table - a table's file, and where the table is in struct disk
 * @attr: the file
 * @row: offset of the pointer to the rows; all columns are u64
 * @nr: offset of the number of rows
 * @columns: number of columns
 * @most: highest number of rows
 * @largest: highest allowed value in the second column
 */
struct table {
	struct bin_attribute attr;
	size_t row, nr;
	u32 columns, most;
	u64 largest;
};

#define TABLE(name_, row_, nr_, type_, most_, largest_)                      \
	static struct table name_##_table = {                                \
		.attr = __BIN_ATTR(name_, 0644, table_read, table_write, 0), \
		.row = offsetof(struct disk, row_),                          \
		.nr = offsetof(struct disk, nr_),                            \
		.columns = sizeof(type_) / sizeof(u64),                      \
		.most = most_,                                               \
		.largest = largest_,                                         \
	}

TABLE(seek_curve, seek.point, seek.nr_points, struct curve_point, CURVE_POINTS_MAX,
      VPT_HOLD_MAX_NS);
TABLE(transfer_curve, transfer.point, transfer.nr_points, struct curve_point,
      CURVE_POINTS_MAX, DISK_SECTOR_PS_MAX);
TABLE(tracks, tracks.zone, tracks.nr_zones, struct track_zone, TRACKS_ZONES_MAX,
      TRACKS_SECTORS_MAX);
TABLE(tracks_slips, tracks.slip, tracks.nr_slips, struct track_slip, TRACKS_SLIPS_MAX,
      U64_MAX);

static const struct table *table_of(const struct bin_attribute *attr)
{
	return container_of(attr, struct table, attr);
}

static u64 **row_of(struct disk *disk, const struct table *table)
{
	return (void *)disk + table->row;
}

static u32 *nr_of(struct disk *disk, const struct table *table)
{
	return (void *)disk + table->nr;
}

static size_t print_row(const u64 *value, u32 columns, char *text, size_t room)
{
	size_t length = scnprintf(text, room, "%llu:%llu", value[0], value[1]);
	u32 i;

	while (columns > 2 && !value[columns - 1])
		columns--;
	for (i = 2; i < columns; i++)
		length += scnprintf(text + length, room - length, ":%llu", value[i]);
	return length;
}

static size_t print(struct disk *disk, const struct table *table, char *text)
{
	const u64 *value = *row_of(disk, table);
	u32 nr = *nr_of(disk, table);
	size_t length = 0;
	u32 i;

	for (i = 0; i < nr; i++) {
		if (i)
			text[length++] = ' ';
		length += print_row(value + i * table->columns, table->columns,
				    text + length, VPT_TABLE_TEXT_MAX - length);
	}
	return length + scnprintf(text + length, VPT_TABLE_TEXT_MAX - length, "\n");
}

static ssize_t table_read(struct file *file, struct kobject *kobj,
			  struct bin_attribute *attr, char *buffer, loff_t position,
			  size_t count)
{
	struct vpt_disk *disk = vpt_disk_of(kobj);
	char *text = kvmalloc(VPT_TABLE_TEXT_MAX, GFP_KERNEL);
	size_t length;
	ssize_t ret;

	if (!text)
		return -ENOMEM;
	mutex_lock(&disk->control);
	length = print(&disk->model.device.drive.disk, table_of(attr), text);
	mutex_unlock(&disk->control);
	ret = memory_read_from_buffer(buffer, count, &position, text, length);
	kvfree(text);
	return ret;
}

static int parse_row(const struct table *table, u64 *value, char *word)
{
	char *number;
	u32 i;

	memset(value, 0, table->columns * sizeof(*value));
	for (i = 0; (number = strsep(&word, ":")); i++) {
		if (i == table->columns || kstrtou64(number, 10, value + i))
			return -EINVAL;
	}
	if (i < 2)
		return -EINVAL;
	return value[1] > table->largest ? -ERANGE : 0;
}

static int parse(const struct table *table, char *text, u64 *value, u32 *nr)
{
	char *word;
	int ret;

	for (*nr = 0; (word = strsep(&text, " \t\n"));) {
		if (!*word)
			continue;
		if (*nr == table->most)
			return -E2BIG;
		ret = parse_row(table, value + (*nr)++ * table->columns, word);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Replaces all rows at once, while requests are being served.  On return `rows` points to the rows
 * that the caller must free: the old rows, or on failure the new rows.
 */
static int swap_rows(struct vpt_disk *disk, const struct table *table, u64 **rows,
		     u32 nr)
{
	struct vpt_model *changed = vpt_model_copy(disk);
	struct disk *used = &disk->model.device.drive.disk;
	unsigned long flags;
	int ret;

	if (!changed)
		return -ENOMEM;
	*row_of(&changed->device.drive.disk, table) = *rows;
	*nr_of(&changed->device.drive.disk, table) = nr;
	ret = vpt_model_check(changed, disk->bdev);
	if (!ret) {
		raw_spin_lock_irqsave(&disk->lock, flags);
		vpt_keep_checked_scale(disk, changed);
		swap(*row_of(used, table), *rows);
		*nr_of(used, table) = nr;
		command_queue_aim(&disk->model.device.queue, &disk->model.device.drive);
		raw_spin_unlock_irqrestore(&disk->lock, flags);
	}
	kvfree(changed);
	return ret;
}

static int replace(struct vpt_disk *disk, const struct table *table)
{
	size_t room = array3_size(table->most, table->columns, sizeof(u64));
	u64 *rows = kvmalloc(room, GFP_KERNEL);
	u32 nr;
	int ret;

	if (!rows)
		return -ENOMEM;
	ret = parse(table, disk->incoming.text, rows, &nr);
	ret = ret ?: swap_rows(disk, table, &rows, nr);
	vpt_rows_free(disk, rows);
	return ret;
}

static void forget(struct vpt_table_text *incoming)
{
	kvfree(incoming->text);
	*incoming = (struct vpt_table_text){ 0 };
}

/* Stores the next piece of text.  A write at position 0 drops an unfinished table. */
static int take_piece(struct vpt_table_text *incoming, struct file *file,
		      const char *piece, loff_t position, size_t count)
{
	if (!position) {
		forget(incoming);
		incoming->text = kvmalloc(VPT_TABLE_TEXT_MAX + 1, GFP_KERNEL);
		incoming->file = file;
		if (!incoming->text)
			return -ENOMEM;
	}
	if (file != incoming->file || position != incoming->length)
		return -EINVAL;
	if (count > VPT_TABLE_TEXT_MAX - incoming->length)
		return -E2BIG;
	memcpy(incoming->text + incoming->length, piece, count);
	incoming->length += count;
	incoming->text[incoming->length] = '\0';
	return 0;
}

static ssize_t table_write(struct file *file, struct kobject *kobj,
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
		ret = replace(disk, table_of(attr));
	if (ret || complete)
		forget(&disk->incoming);
	mutex_unlock(&disk->control);
	return ret ?: count;
}

static struct bin_attribute *curves_attrs[] = {
	&seek_curve_table.attr,
	&transfer_curve_table.attr,
	&tracks_table.attr,
	&tracks_slips_table.attr,
	NULL,
};

const struct attribute_group vpt_curves_group = { .bin_attrs = curves_attrs };
