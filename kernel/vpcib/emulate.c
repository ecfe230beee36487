// SPDX-License-Identifier: GPL-2.0
/* Executes a decoded instruction whose operand in memory is a device. */
#include "code.h"
#include "compute.h"
#include "vector.h"

#define CARRY 0x1ul
#define DIRECTION 0x400ul

static u64 low_bytes(u64 value, u32 bytes)
{
	return bytes == 8 ? value : value & ((1ull << (8 * bytes)) - 1);
}

/*
 * Returns whether the register is AH, CH, DH or BH.  These are byte registers 4 to 7 of
 * instructions without a REX prefix.
 */
static bool is_high_byte(const struct instruction *in, u32 number, u32 bytes)
{
	return bytes == 1 && !in->rex && number >= 4;
}

static u64 get_register(const struct instruction *in, const struct processor *cpu,
			u32 number, u32 bytes)
{
	if (is_high_byte(in, number, bytes))
		return *cpu->general[number - 4] >> 8 & 0xff;
	return low_bytes(*cpu->general[number], bytes);
}

/*
 * Writes a register.  A write of 4 bytes clears the upper 4 bytes; a write of 1 or 2 bytes keeps
 * the other bytes.
 */
static void set_register(const struct instruction *in, struct processor *cpu,
			 u32 number, u64 value, u32 bytes)
{
	unsigned long *at = cpu->general[number];

	if (is_high_byte(in, number, bytes)) {
		at = cpu->general[number - 4];
		*at = (*at & ~0xff00ul) | (value & 0xff) << 8;
	} else if (bytes >= 4) {
		*at = low_bytes(value, bytes);
	} else {
		*at = (*at & ~low_bytes(~0ull, bytes)) | low_bytes(value, bytes);
	}
}

static u64 sign_extended(u64 value, u32 bytes)
{
	u32 shift = 64 - 8 * bytes;

	return (u64)((s64)(value << shift) >> shift);
}

/*
 * Executes an operation that reads, and usually writes, the device's operand.  COMPARE and TEST
 * only read the operand.
 */
static void change(enum operation operation, u64 by, u32 bytes, struct processor *cpu,
		   u64 address, struct device_bus *bus)
{
	u64 old = bus->load(bus, address, bytes);
	u64 result = compute(operation, old, by, bytes, cpu->flags);

	if (operation != COMPARE && operation != TEST)
		bus->store(bus, address, result, bytes);
}

/*
 * Executes opcodes below 40.  Bits 5:3 of the opcode are the operation.  If bit 1 is set, the
 * device is the source.
 */
static void arithmetic(const struct instruction *in, struct processor *cpu, u64 address,
		       struct device_bus *bus)
{
	enum operation operation = in->opcode >> 3;
	u32 bytes = in->opcode & 0x1 ? in->operand_bytes : 1;
	u32 number = instruction_register(in);
	u64 with = get_register(in, cpu, number, bytes);
	u64 result;

	if (!(in->opcode & 0x2)) {
		change(operation, with, bytes, cpu, address, bus);
		return;
	}
	result = compute(operation, with, bus->load(bus, address, bytes), bytes,
			 cpu->flags);
	if (operation != COMPARE)
		set_register(in, cpu, number, result, bytes);
}

/* Executes opcodes F6, F7, FE and FF.  The operation is in the ModR/M byte. */
static int unary(const struct instruction *in, struct processor *cpu, u64 address,
		 struct device_bus *bus)
{
	static const enum operation of_f6[] = { TEST, TEST, 0, NEGATE };
	u32 bytes = in->opcode & 0x1 ? in->operand_bytes : 1;
	u32 which = in->modrm >> 3 & 0x7;

	if (in->opcode >= 0xfe) {
		if (which > 1)
			return -EOPNOTSUPP;
		change(which ? DECREMENT : INCREMENT, 1, bytes, cpu, address, bus);
		return 0;
	}
	if (which > 3)
		return -EOPNOTSUPP;
	if (which == 2)
		bus->store(bus, address,
			   low_bytes(~bus->load(bus, address, bytes), bytes), bytes);
	else
		change(of_f6[which], (u64)in->immediate, bytes, cpu, address, bus);
	return 0;
}

/* Executes opcodes C0, C1 and D0 to D3.  A shift by 0 changes no flags. */
static void shift(const struct instruction *in, u64 by, struct processor *cpu,
		  u64 address, struct device_bus *bus)
{
	u32 bytes = in->opcode & 0x1 ? in->operand_bytes : 1;

	by &= bytes == 8 ? 0x3f : 0x1f;
	if (by)
		change(ROTATE_LEFT + (in->modrm >> 3 & 0x7), by, bytes, cpu, address,
		       bus);
	else
		bus->store(bus, address, bus->load(bus, address, bytes), bytes);
}

static void multiply(const struct instruction *in, struct processor *cpu, u64 by,
		     u64 address, struct device_bus *bus)
{
	u32 bytes = in->operand_bytes;
	u64 old = bus->load(bus, address, bytes);

	set_register(in, cpu, instruction_register(in),
		     compute(MULTIPLY, old, by, bytes, cpu->flags), bytes);
}

static void exchange(const struct instruction *in, struct processor *cpu, u32 bytes,
		     u64 address, struct device_bus *bus)
{
	u32 number = instruction_register(in);
	u64 old = bus->load(bus, address, bytes);

	bus->store(bus, address, get_register(in, cpu, number, bytes), bytes);
	set_register(in, cpu, number, old, bytes);
}

static void exchange_and_add(const struct instruction *in, struct processor *cpu,
			     u32 bytes, u64 address, struct device_bus *bus)
{
	u32 number = instruction_register(in);
	u64 old = bus->load(bus, address, bytes);
	u64 sum = compute(ADD, old, get_register(in, cpu, number, bytes), bytes,
			  cpu->flags);

	bus->store(bus, address, sum, bytes);
	set_register(in, cpu, number, old, bytes);
}

/* Executes CMPXCHG.  If the values differ, the old value is written back (SDM, CMPXCHG). */
static void compare_and_exchange(const struct instruction *in, struct processor *cpu,
				 u32 bytes, u64 address, struct device_bus *bus)
{
	u64 old = bus->load(bus, address, bytes);
	u64 expected = low_bytes(*cpu->general[REGISTER_AX], bytes);
	u64 new = get_register(in, cpu, instruction_register(in), bytes);

	compute(COMPARE, expected, old, bytes, cpu->flags);
	bus->store(bus, address, old == expected ? new : old, bytes);
	if (old != expected)
		set_register(in, cpu, REGISTER_AX, old, bytes);
}

/* Executes BT, BTS, BTR and BTC with an immediate bit number. */
static int one_bit(const struct instruction *in, struct processor *cpu, u64 address,
		   struct device_bus *bus)
{
	u32 which = in->modrm >> 3 & 0x7, bytes = in->operand_bytes;
	u64 bit = 1ull << ((u64)in->immediate % (8 * bytes));
	u64 old, new;

	if (which < 4)
		return -EOPNOTSUPP;
	old = bus->load(bus, address, bytes);
	*cpu->flags = (*cpu->flags & ~CARRY) | (old & bit ? CARRY : 0);
	new = which == 5 ? old | bit : which == 6 ? old & ~bit : old ^ bit;
	if (which > 4)
		bus->store(bus, address, new, bytes);
	return 0;
}

static int two_byte(const struct instruction *in, struct processor *cpu, u64 address,
		    struct device_bus *bus)
{
	u32 number = instruction_register(in);
	u32 bytes = in->opcode & 0x1 ? in->operand_bytes : 1;
	u32 narrow = in->opcode & 0x1 ? 2 : 1;

	if (vector_move(in))
		return vector_emulate(in, cpu, address, bus);
	switch (in->opcode) {
	case 0xaf:
		multiply(in, cpu, get_register(in, cpu, number, in->operand_bytes),
			 address, bus);
		return 0;
	case 0xb6:
	case 0xb7:
		set_register(in, cpu, number, bus->load(bus, address, narrow),
			     in->operand_bytes);
		return 0;
	case 0xbe:
	case 0xbf:
		set_register(in, cpu, number,
			     sign_extended(bus->load(bus, address, narrow), narrow),
			     in->operand_bytes);
		return 0;
	case 0xb0:
	case 0xb1:
		compare_and_exchange(in, cpu, bytes, address, bus);
		return 0;
	case 0xba:
		return one_bit(in, cpu, address, bus);
	case 0xc0:
	case 0xc1:
		exchange_and_add(in, cpu, bytes, address, bus);
		return 0;
	case 0xc3: /* MOVNTI */
		if (in->prefix)
			return -EOPNOTSUPP;
		bus->store(bus, address,
			   get_register(in, cpu, number, in->operand_bytes),
			   in->operand_bytes);
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

/*
 * Copies from the device to memory.  First the memory's old contents are written back to it, to
 * test whether the memory is writable.  If the test fails, the device has not been read yet.
 */
static int move_from_device(u64 to, u32 bytes, u64 address, struct device_bus *bus)
{
	u64 value = 0;
	int ret = bus->from_memory(bus, &value, to, bytes);

	if (!ret)
		ret = bus->to_memory(bus, to, &value, bytes);
	if (ret)
		return ret;
	value = bus->load(bus, address, bytes);
	return bus->to_memory(bus, to, &value, bytes);
}

static int move_to_device(u64 from, u32 bytes, u64 address, struct device_bus *bus)
{
	u64 value = 0;
	int ret = bus->from_memory(bus, &value, from, bytes);

	if (!ret)
		bus->store(bus, address, value, bytes);
	return ret;
}

/*
 * Executes one iteration of STOS, LODS or MOVS.  For MOVS, the device is the destination if DI is
 * the faulting address, and otherwise the source.
 */
static int string(const struct instruction *in, struct processor *cpu, u64 address,
		  struct device_bus *bus)
{
	u32 bytes = in->opcode & 0x1 ? in->operand_bytes : 1;
	u8 which = in->opcode & 0xfe;
	unsigned long step = *cpu->flags & DIRECTION ? -(unsigned long)bytes : bytes;
	unsigned long *si = cpu->general[REGISTER_SI], *di = cpu->general[REGISTER_DI];
	bool to = which != 0xac && *di == address;
	int ret = 0;

	if (!to && (which == 0xaa || *si != address))
		return -EOPNOTSUPP;
	if (which == 0xaa)
		bus->store(bus, address, low_bytes(*cpu->general[REGISTER_AX], bytes),
			   bytes);
	else if (which == 0xac)
		set_register(in, cpu, REGISTER_AX, bus->load(bus, address, bytes),
			     bytes);
	else
		ret = to ? move_to_device(*si, bytes, address, bus)
			 : move_from_device(*di, bytes, address, bus);
	if (ret)
		return ret;
	if (which != 0xac)
		*di += step;
	if (which != 0xaa)
		*si += step;
	return 0;
}

static bool is_string(const struct instruction *in)
{
	return !in->two_byte &&
	       ((in->opcode & 0xfe) == 0xa4 || (in->opcode & 0xfe) == 0xaa ||
		(in->opcode & 0xfe) == 0xac);
}

static int one_byte(const struct instruction *in, struct processor *cpu, u64 address,
		    struct device_bus *bus)
{
	u32 bytes = in->opcode & 0x1 ? in->operand_bytes : 1;
	u32 number = instruction_register(in);

	if (in->opcode < 0x40) {
		arithmetic(in, cpu, address, bus);
		return 0;
	}
	switch (in->opcode) {
	/* MOVSXD; with 2-byte operands, the number of bytes read depends on the CPU vendor */
	case 0x63:
		if (in->operand_bytes == 2)
			return -EOPNOTSUPP;
		set_register(in, cpu, number,
			     sign_extended(bus->load(bus, address, 4), 4),
			     in->operand_bytes);
		return 0;
	case 0x69:
	case 0x6b:
		multiply(in, cpu, (u64)in->immediate, address, bus);
		return 0;
	case 0x80:
	case 0x81:
	case 0x83:
		change(in->modrm >> 3 & 0x7, (u64)in->immediate, bytes, cpu, address,
		       bus);
		return 0;
	case 0x84:
	case 0x85:
		change(TEST, get_register(in, cpu, number, bytes), bytes, cpu, address,
		       bus);
		return 0;
	case 0x86:
	case 0x87:
		exchange(in, cpu, bytes, address, bus);
		return 0;
	case 0x88:
	case 0x89:
		bus->store(bus, address, get_register(in, cpu, number, bytes), bytes);
		return 0;
	case 0x8a:
	case 0x8b:
		set_register(in, cpu, number, bus->load(bus, address, bytes), bytes);
		return 0;
	case 0xa0:
	case 0xa1:
		set_register(in, cpu, REGISTER_AX, bus->load(bus, address, bytes),
			     bytes);
		return 0;
	case 0xa2:
	case 0xa3:
		bus->store(bus, address, low_bytes(*cpu->general[REGISTER_AX], bytes),
			   bytes);
		return 0;
	case 0xc0:
	case 0xc1:
		shift(in, (u64)in->immediate, cpu, address, bus);
		return 0;
	case 0xd0:
	case 0xd1:
		shift(in, 1, cpu, address, bus);
		return 0;
	case 0xd2:
	case 0xd3:
		shift(in, *cpu->general[REGISTER_CX], cpu, address, bus);
		return 0;
	case 0xc6:
	case 0xc7:
		if (in->modrm & 0x38)
			return -EOPNOTSUPP;
		bus->store(bus, address, low_bytes((u64)in->immediate, bytes), bytes);
		return 0;
	case 0xf6:
	case 0xf7:
	case 0xfe:
	case 0xff:
		return unary(in, cpu, address, bus);
	default:
		return -EOPNOTSUPP;
	}
}

static int repeat(const struct instruction *in, struct processor *cpu, u64 address,
		  struct device_bus *bus)
{
	bool repeated = in->prefix == 0xf2 || in->prefix == 0xf3;
	unsigned long *count = cpu->general[REGISTER_CX];
	int ret;

	if (!repeated || *count) {
		ret = string(in, cpu, address, bus);
		if (ret)
			return ret;
		*count -= repeated;
	}
	if (!repeated || !*count)
		*cpu->ip += in->length;
	return 0;
}

u64 instruction_operand(const struct instruction *in, const struct processor *cpu)
{
	u64 address = (u64)in->displacement;
	bool has_sib = (in->modrm & 0x7) == 4;
	u32 base = has_sib ? in->sib & 0x7 : in->modrm & 0x7;
	u32 index = (in->sib >> 3 & 0x7) | (in->rex & REX_X ? 8 : 0);

	if (!in->two_byte && (in->opcode & 0xfc) == 0xa0)
		return address;
	if (has_sib && index != 4)
		address += *cpu->general[index] << (in->sib >> 6);
	if (base != 5 || in->modrm >> 6)
		return address + *cpu->general[base | (in->rex & REX_B ? 8 : 0)];
	return has_sib ? address : address + *cpu->ip + in->length;
}

int instruction_emulate(const struct instruction *in, struct processor *cpu,
			u64 address, struct device_bus *bus)
{
	int ret;

	if (is_string(in))
		return repeat(in, cpu, address, bus);
	if (!in->segment && instruction_operand(in, cpu) != address)
		return -EOPNOTSUPP;
	ret = in->two_byte ? two_byte(in, cpu, address, bus)
			   : one_byte(in, cpu, address, bus);
	if (!ret)
		*cpu->ip += in->length;
	return ret;
}
