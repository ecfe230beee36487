/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The bus between a drive and its host: how long transfers take, and the overhead of a request. */
#ifndef UNDERSTUDY_BUS_H
#define UNDERSTUDY_BUS_H

#include "../port.h"

/**
 * struct bus - parameters
 * @sector_ps: time to transfer a sector, picoseconds
 * @watermark_percent: percentage of a read, or of the segment if that is shorter, that must be in
 *	the buffer before the bus begins (SCSI's buffer full ratio); 0: one sector. It applies to a
 *	read of which the buffer holds no part and which the drive is not reading ahead
 * @hit_ns: time of a read that hits the buffer, without the transfer of its sectors; with the
 *	papers' cache, the whole time of a hit
 * @write_ns: time of a write that the drive accepts into its cache, without the transfer of its
 *	sectors
 */
struct bus {
	u64 sector_ps;
	u64 watermark_percent;
	u64 hit_ns;
	u64 write_ns;
};

static inline u64 bus_ns(const struct bus *bus, u64 sectors)
{
	return port_mul_div(bus->sector_ps, sectors, 1000);
}

static inline u64 bus_hit_ns(const struct bus *bus, u64 sectors)
{
	return bus->hit_ns + bus_ns(bus, sectors);
}

static inline u64 bus_write_ns(const struct bus *bus, u64 sectors)
{
	return bus->write_ns + bus_ns(bus, sectors);
}

#endif
