/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The bus between a drive and its host: what is sent over it, and what a request costs besides.
 */
#ifndef UNDERSTUDY_BUS_H
#define UNDERSTUDY_BUS_H

#include "../port.h"

/**
 * struct bus - parameters
 * @sector_ps: a sector's transfer, picoseconds
 * @watermark_percent: of a read, or of the segment if that is less, has to be there before the
 *	bus begins (SCSI's buffer full ratio), if nothing of it is held or comes by; 0: one sector
 * @hit_ns: a read that the buffer holds, besides its sectors; one that the papers' cache holds
 * @write_ns: a write that is taken, besides its sectors
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
