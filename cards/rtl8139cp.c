// SPDX-License-Identifier: GPL-2.0
/*
 * The network card's registers and its EEPROM (rtl8139cp.yaml; data sheet of the RTL8139C+, section
 * 6).  The other files are in rtl8139cp/ (station.h).
 */
#include <linux/module.h>

#include "../kernel/vgpu/device.h"
#include "rtl8139cp/station.h"
#include "rtl8139cp_registers.h"
#include "rtl8139cp_table.h"

#define PINS 2u /* values of CR9346.EEM */
#define UNLOCKED 3u
#define EEPROM_COMMAND_BITS \
	9 /* a start bit, the operation, and the address of a word */
#define EEPROM_READ 6u /* the start bit and the operation */
#define EEPROM_ID 0x8129
#define BMCR_MOMENTARY 0x8200u

static u32 mode(const struct vgpu *device)
{
	return (vgpu_get(device, RTL8139CP_INDEX_CR9346) & RTL8139CP_CR9346_EEM_MASK) >>
	       RTL8139CP_CR9346_EEM_SHIFT;
}

/* --- the EEPROM, a 93C46 with 64 words --------------------------------------------------------- */

/* Returns bytes 4 and 5 of the station's address. */
static u32 address_end(const struct vgpu *device)
{
	return RTL8139CP_IDR4_RESET_VALUE | vpcib_number(device->card) << 8;
}

static u16 eeprom_word(const struct vgpu *device, u32 address)
{
	switch (address) {
	case 0:
		return EEPROM_ID;
	case 1:
	case 3:
		return RTL8139CP_VENDOR_ID;
	case 2:
	case 4:
		return RTL8139CP_DEVICE_ID;
	case 7:
		return RTL8139CP_IDR0_RESET_VALUE & 0xffff;
	case 8:
		return RTL8139CP_IDR0_RESET_VALUE >> 16;
	case 9:
		return address_end(device);
	default:
		return 0xffff;
	}
}

/* The clock has risen: the EEPROM takes a bit of the command, or puts out a bit of a word. */
static bool eeprom_clock(struct vgpu *device, bool input)
{
	struct station *station = device->state;
	u32 word, bit;

	if (!station->clocks && !input)
		return false; /* no start bit yet */
	if (station->clocks < EEPROM_COMMAND_BITS)
		station->command = station->command << 1 | input;
	station->clocks++;
	if (station->clocks <= EEPROM_COMMAND_BITS ||
	    station->command >> 6 != EEPROM_READ)
		return false;
	bit = station->clocks - EEPROM_COMMAND_BITS - 1;
	word = eeprom_word(device, (station->command + bit / 16) % 64);
	return word >> (15 - bit % 16) & 1;
}

static void eeprom_pins(struct vgpu *device, u32 pins)
{
	struct station *station = device->state;
	bool selected = mode(device) == PINS && pins & RTL8139CP_CR9346_EECS_MASK;
	bool was_high = station->clock;

	station->clock = pins & RTL8139CP_CR9346_EESK_MASK;
	if (!selected) {
		station->clocks = 0;
		station->command = 0;
	} else if (station->clock && !was_high) {
		vgpu_clear_bits(device, RTL8139CP_INDEX_CR9346,
				RTL8139CP_CR9346_EEDO_MASK);
		if (eeprom_clock(device, pins & RTL8139CP_CR9346_EEDI_MASK))
			vgpu_set_bits(device, RTL8139CP_INDEX_CR9346,
				      RTL8139CP_CR9346_EEDO_MASK);
	}
}

/* --- registers --------------------------------------------------------------------------------- */

/* Resets all but the addresses that the card answers to. */
static void soft_reset(struct vgpu *device)
{
	static const u32 kept[] = { RTL8139CP_INDEX_IDR0, RTL8139CP_INDEX_IDR4,
				    RTL8139CP_INDEX_MAR0, RTL8139CP_INDEX_MAR4 };
	u64 values[ARRAY_SIZE(kept)];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kept); i++)
		values[i] = vgpu_get(device, kept[i]);
	vgpu_reset(device);
	for (i = 0; i < ARRAY_SIZE(kept); i++)
		vgpu_set(device, kept[i], values[i]);
}

static void dump_tally(struct vgpu *device)
{
	struct station *station = device->state;
	u64 value = vgpu_get(device, RTL8139CP_INDEX_DTCCR);

	if (!(value & RTL8139CP_DTCCR_CMD_MASK))
		return;
	if (vpcib_dma_write(device->card, value & RTL8139CP_DTCCR_ADDRESS_MASK,
			    &station->tally, sizeof(station->tally)))
		vgpu_set_bits(device, RTL8139CP_INDEX_ISR, RTL8139CP_ISR_SERR_MASK);
	vgpu_clear_bits(device, RTL8139CP_INDEX_DTCCR, RTL8139CP_DTCCR_CMD_MASK);
}

static void poll(struct vgpu *device, u32 value)
{
	struct station *station = device->state;

	if (value & RTL8139CP_TPPOLL_FSWINT_MASK)
		vgpu_set_bits(device, RTL8139CP_INDEX_ISR, RTL8139CP_ISR_SWINT_MASK);
	if (value & RTL8139CP_TPPOLL_NPQ_MASK) {
		station->sends = true;
		vgpu_wake(device);
	}
}

static bool may_store(struct vgpu *device, u32 index)
{
	switch (index) {
	case RTL8139CP_INDEX_CONFIG1:
	case RTL8139CP_INDEX_CONFIG3:
	case RTL8139CP_INDEX_CONFIG4:
	case RTL8139CP_INDEX_CONFIG5:
		return mode(device) == UNLOCKED;
	default:
		return true;
	}
}

static void stored(struct vgpu *device, u32 index, u64 value)
{
	struct station *station = device->state;

	switch (index) {
	case RTL8139CP_INDEX_CR:
		if (value & RTL8139CP_CR_RST_MASK)
			soft_reset(device);
		break;
	case RTL8139CP_INDEX_CR9346:
		eeprom_pins(device, value);
		break;
	case RTL8139CP_INDEX_DTCCR:
		dump_tally(device);
		break;
	case RTL8139CP_INDEX_TPPOLL:
		poll(device, value);
		break;
	case RTL8139CP_INDEX_TNPDS:
		station->sending = 0;
		break;
	case RTL8139CP_INDEX_RDSAR:
		station->receiving = 0;
		break;
	case RTL8139CP_INDEX_MPC:
		vgpu_set(device, index, 0);
		break;
	case RTL8139CP_INDEX_BMCR:
		vgpu_clear_bits(device, index, BMCR_MOMENTARY);
		break;
	}
}

static void reset(struct vgpu *device)
{
	struct station *station = device->state;

	station->sends = false;
	station->sending = 0;
	station->receiving = 0;
	station->clocks = 0;
	vgpu_set(device, RTL8139CP_INDEX_IDR4, address_end(device));
}

static int start(struct vgpu *device)
{
	struct station *station = device->state;

	station->device = device;
	station_join(station);
	return 0;
}

static void stop(struct vgpu *device)
{
	station_leave(device->state);
}

static void work(struct vgpu *device)
{
	station_send(device->state);
}

const struct behaviour card_behaviour = {
	.table = &rtl8139cp_table,
	.state_bytes = sizeof(struct station),
	.start = start,
	.stop = stop,
	.reset = reset,
	.may_store = may_store,
	.stored = stored,
	.work = work,
};
