// SPDX-License-Identifier: GPL-2.0
#include <linux/mm.h>
#include <linux/module.h>

#include "controller.h"

static unsigned int megabytes = 64;
module_param(megabytes, uint, 0444);
MODULE_PARM_DESC(megabytes, "size of each namespace in MiB, 1 to 1048576");

static unsigned int namespaces = NVME_NAMESPACES;
module_param(namespaces, uint, 0444);
MODULE_PARM_DESC(namespaces, "1: only the namespace with sectors of 512 bytes; 2: both");

static const u32 shifts[NVME_NAMESPACES] = { 9, 12 };

int media_init(struct nvme_controller *controller)
{
	u32 i;

	if (!megabytes || megabytes > 1u << 20 || !namespaces ||
	    namespaces > NVME_NAMESPACES)
		return -EINVAL;
	controller->nr_namespaces = namespaces;
	for (i = 0; i < NVME_NAMESPACES; i++) {
		struct nvme_namespace *space = &controller->namespaces[i];

		xa_init(&space->pages);
		space->shift = shifts[i];
		space->sectors = (u64)megabytes << 20 >> space->shift;
	}
	return 0;
}

void media_exit(struct nvme_controller *controller)
{
	unsigned long index;
	void *page;
	u32 i;

	for (i = 0; i < NVME_NAMESPACES; i++) {
		xa_for_each(&controller->namespaces[i].pages, index, page)
			free_page((unsigned long)page);
		xa_destroy(&controller->namespaces[i].pages);
	}
}

/* The number of bytes from `at` on that are in the same page, at most `bytes`. */
static u32 in_page(u64 at, u64 bytes)
{
	return min_t(u64, bytes, NVME_PAGE - at % NVME_PAGE);
}

void media_read(struct nvme_namespace *space, u64 at, u8 *to, u32 bytes)
{
	u32 part;

	for (; bytes; at += part, to += part, bytes -= part) {
		const u8 *page = xa_load(&space->pages, at / NVME_PAGE);

		part = in_page(at, bytes);
		if (page)
			memcpy(to, page + at % NVME_PAGE, part);
		else
			memset(to, 0, part);
	}
}

/* Memory is allocated without writing to a disk, since that disk may be this one. */
int media_write(struct nvme_namespace *space, u64 at, const u8 *from, u32 bytes)
{
	u32 part;

	for (; bytes; at += part, from += part, bytes -= part) {
		u8 *page = xa_load(&space->pages, at / NVME_PAGE);

		part = in_page(at, bytes);
		if (!page) {
			page = (u8 *)get_zeroed_page(GFP_NOIO);
			if (!page)
				return -ENOMEM;
			if (xa_is_err(xa_store(&space->pages, at / NVME_PAGE, page,
					       GFP_NOIO))) {
				free_page((unsigned long)page);
				return -ENOMEM;
			}
		}
		memcpy(page + at % NVME_PAGE, from, part);
	}
	return 0;
}

/* Clears the bytes of one page, and frees it if all of it is cleared. */
static void clear_page_of(struct nvme_namespace *space, u64 at, u32 bytes)
{
	u8 *page = xa_load(&space->pages, at / NVME_PAGE);

	if (page && bytes < NVME_PAGE) {
		memset(page + at % NVME_PAGE, 0, bytes);
	} else if (page) {
		xa_erase(&space->pages, at / NVME_PAGE);
		free_page((unsigned long)page);
	}
}

void media_clear(struct nvme_namespace *space, u64 at, u64 bytes)
{
	u64 end = at + bytes;
	unsigned long index;
	void *page;

	if (!bytes)
		return;
	xa_for_each_range(&space->pages, index, page, at / NVME_PAGE,
			  (end - 1) / NVME_PAGE)
	{
		u64 first = max(at, (u64)index * NVME_PAGE);

		clear_page_of(space, first, in_page(first, end - first));
		cond_resched();
	}
}

u64 media_used(struct nvme_namespace *space)
{
	unsigned long index;
	u64 pages = 0;
	void *page;

	xa_for_each(&space->pages, index, page) pages++;
	return pages * NVME_PAGE;
}
