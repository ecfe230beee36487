// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "shares.h"
#include "../core/least.h"

u64 shares_head(const struct drive *drive, u64 now_ns)
{
	struct drive_outlook look;

	if (!drive->buffered)
		return drive->arm.head.sector;
	look = drive_outlook(drive, now_ns);
	plan_look(drive, &look);
	return look.head.sector;
}

/* Move at most ns from *left to the result. */
static u64 part(u64 *left, u64 ns)
{
	u64 taken = nearer(*left, ns);

	*left -= taken;
	return taken;
}

static u64 transfer_ns(const struct disk *disk, const struct command *command,
		       u64 arrives_ns)
{
	if (!disk_knows_angles(disk))
		return disk_transfer_ns(disk, command->sector, command->sectors);
	return disk_end_ns(disk, command->sector, command->sectors, arrives_ns) -
	       arm_passes_ns(disk, command->sector, arrives_ns);
}

struct shares shares_of(const struct drive *drive, const struct command *command,
			u64 head, u64 start_ns)
{
	const struct disk *disk = &drive->disk;
	struct shares shares = { 0 };
	u64 left = command->service_ns;
	bool is_cached =
		drive->buffered && command->op == IO_WRITE && drive->writes.spans_max;

	if (!command->hit && !is_cached) {
		u64 reach_ns = disk_reach_ns(disk, head, command->sector);

		shares.seek_ns = part(&left, reach_ns);
		shares.transfer_ns =
			part(&left, transfer_ns(disk, command, start_ns + reach_ns));
		shares.rotation_ns =
			part(&left, drive->buffered ? disk->rotation_ns : left);
	}
	shares.cache_ns = left;
	return shares;
}
