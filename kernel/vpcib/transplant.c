// SPDX-License-Identifier: GPL-2.0
#include "code.h"
#include "transplant.h"

enum map {
	ONE_BYTE,
	TWO_BYTE, /* 0F */
	THREE_BYTE_38, /* 0F 38 */
	THREE_BYTE_3A, /* 0F 3A */
	VEX = 3, /* plus the number of the opcode map in VEX: 1, 2, 3 */
};

#define PLAIN 0x1 /* neither 66 nor F2 nor F3 */
#define HALF 0x2 /* 66 */
#define F2 0x4
#define F3 0x8
#define ANY 0xf
#define DIGIT(n) (1 << (n))
#define ALL_DIGITS 0xff

#define X87_BYTES 108
#define FXSAVE_BYTES 512
#define WIDEST 64

/**
 * struct row - a range of opcodes and the form of their instructions
 * @prefixes: allowed prefixes
 * @digits: one bit for each allowed value of bits 5:3 of the ModR/M byte; 0: all are allowed
 * @immediate: number of bytes of the immediate
 * @general: whether bits 5:3 of the ModR/M byte, or VEX, may name a general register
 * @operand_bytes: size of the largest operand; 0: WIDEST
 *
 * A range may contain opcodes that do not exist; the processor refuses these.
 */
struct row {
	u8 map;
	u8 first;
	u8 last;
	u8 prefixes;
	u8 digits;
	u8 immediate;
	bool general;
	u16 operand_bytes;
};

#define ROW(MAP, FIRST, LAST, PREFIXES, ...)                                    \
	{                                                                       \
		.map = MAP, .first = FIRST, .last = LAST, .prefixes = PREFIXES, \
		__VA_ARGS__                                                     \
	}

static const struct row rows[] = {
	ROW(ONE_BYTE, 0xd8, 0xdf, ANY, .operand_bytes = X87_BYTES),
	ROW(ONE_BYTE, 0xf6, 0xf7, ANY, .digits = 0xf0), /* MUL, IMUL, DIV, IDIV */

	ROW(TWO_BYTE, 0x10, 0x17, ANY), /* moves */
	ROW(TWO_BYTE, 0x28, 0x2b, ANY), /* moves, and conversions from integers */
	ROW(TWO_BYTE, 0x2c, 0x2d, ANY, .general = true), /* conversions to integers */
	ROW(TWO_BYTE, 0x2e, 0x2f, ANY), /* comparisons */
	ROW(TWO_BYTE, 0x40, 0x4f, ANY, .general = true), /* CMOVcc */
	ROW(TWO_BYTE, 0x51, 0x6f, ANY),
	ROW(TWO_BYTE, 0x70, 0x70, ANY, .immediate = 1), /* PSHUF */
	ROW(TWO_BYTE, 0x74, 0x76, ANY),
	ROW(TWO_BYTE, 0x7c, 0x7f, ANY),
	ROW(TWO_BYTE, 0x90, 0x9f, ANY), /* SETcc */
	ROW(TWO_BYTE, 0xa4, 0xa4, ANY, .immediate = 1, .general = true), /* SHLD */
	ROW(TWO_BYTE, 0xa5, 0xa5, ANY, .general = true),
	ROW(TWO_BYTE, 0xac, 0xac, ANY, .immediate = 1, .general = true), /* SHRD */
	ROW(TWO_BYTE, 0xad, 0xad, ANY, .general = true),
	ROW(TWO_BYTE, 0xae, 0xae, PLAIN, .digits = DIGIT(0) | DIGIT(1),
	    .operand_bytes = FXSAVE_BYTES),
	ROW(TWO_BYTE, 0xae, 0xae, PLAIN,
	    .digits = DIGIT(2) | DIGIT(3)), /* LDMXCSR, STMXCSR */
	ROW(TWO_BYTE, 0xb8, 0xb8, F3, .general = true), /* POPCNT */
	ROW(TWO_BYTE, 0xbc, 0xbd, ANY, .general = true), /* BSF, BSR, TZCNT, LZCNT */
	ROW(TWO_BYTE, 0xc2, 0xc2, ANY, .immediate = 1), /* CMPPS and similar */
	ROW(TWO_BYTE, 0xc4, 0xc4, ANY, .immediate = 1), /* PINSRW */
	ROW(TWO_BYTE, 0xc6, 0xc6, ANY, .immediate = 1), /* SHUFPS, SHUFPD */
	ROW(TWO_BYTE, 0xc7, 0xc7, PLAIN,
	    .digits = DIGIT(1)), /* CMPXCHG8B, CMPXCHG16B */
	ROW(TWO_BYTE, 0xd0, 0xd6, ANY),
	ROW(TWO_BYTE, 0xd8, 0xf6, ANY),
	ROW(TWO_BYTE, 0xf8, 0xfe, ANY),

	ROW(THREE_BYTE_38, 0x00, 0x41, PLAIN | HALF),
	ROW(THREE_BYTE_38, 0xc8, 0xcf, PLAIN | HALF), /* SHA, GF2P8MULB */
	ROW(THREE_BYTE_38, 0xdb, 0xdf, HALF), /* AES */
	ROW(THREE_BYTE_38, 0xf0, 0xf1, PLAIN | HALF | F2, .general = true),
	ROW(THREE_BYTE_38, 0xf6, 0xf6, HALF | F3, .general = true), /* ADCX, ADOX */

	ROW(THREE_BYTE_3A, 0x08, 0x63, PLAIN | HALF, .immediate = 1),
	ROW(THREE_BYTE_3A, 0xcc, 0xcc, PLAIN, .immediate = 1), /* SHA1RNDS4 */
	ROW(THREE_BYTE_3A, 0xce, 0xcf, HALF, .immediate = 1), /* GF2P8AFFINE */
	ROW(THREE_BYTE_3A, 0xdf, 0xdf, HALF, .immediate = 1), /* AES */

	ROW(VEX + 1, 0x10, 0x17, ANY),
	ROW(VEX + 1, 0x28, 0x2b, ANY),
	ROW(VEX + 1, 0x2c, 0x2d, ANY, .general = true),
	ROW(VEX + 1, 0x2e, 0x2f, ANY),
	ROW(VEX + 1, 0x51, 0x6f, ANY),
	ROW(VEX + 1, 0x70, 0x70, ANY, .immediate = 1),
	ROW(VEX + 1, 0x74, 0x76, ANY),
	ROW(VEX + 1, 0x7c, 0x7f, ANY),
	ROW(VEX + 1, 0xae, 0xae, ANY, .digits = DIGIT(2) | DIGIT(3)),
	ROW(VEX + 1, 0xc2, 0xc2, ANY, .immediate = 1),
	ROW(VEX + 1, 0xc4, 0xc4, ANY, .immediate = 1),
	ROW(VEX + 1, 0xc6, 0xc6, ANY, .immediate = 1),
	ROW(VEX + 1, 0xd0, 0xd6, ANY),
	ROW(VEX + 1, 0xd8, 0xf6, ANY),
	ROW(VEX + 1, 0xf8, 0xfe, ANY),

	ROW(VEX + 2, 0x00, 0x47, ANY),
	ROW(VEX + 2, 0x50, 0x5a, ANY),
	ROW(VEX + 2, 0x78, 0x79, ANY), /* broadcasts */
	ROW(VEX + 2, 0x8c, 0x8e, ANY), /* VPMASKMOV */
	ROW(VEX + 2, 0x96, 0xbf, ANY), /* FMA */
	ROW(VEX + 2, 0xcf, 0xcf, ANY),
	ROW(VEX + 2, 0xdb, 0xdf, ANY),
	ROW(VEX + 2, 0xf2, 0xf7, ANY, .general = true), /* BMI */

	ROW(VEX + 3, 0x00, 0xdf, ANY, .immediate = 1),
	ROW(VEX + 3, 0xf0, 0xf0, ANY, .immediate = 1, .general = true), /* RORX */
};

/* The bytes before the opcode. */
struct head {
	bool half; /* 66 */
	bool vex;
	u8 map;
	u8 byte[3]; /* of VEX */
	u8 bytes;
	u8 other; /* the register in VEX, in addition to the one in ModR/M */
};

/*
 * Reads a VEX prefix of 2 or 3 bytes.  The prefix holds bits R, X and B of a REX prefix, inverted.
 */
static int take_vex(struct head *head, struct instruction *in, struct code *c, u8 first)
{
	u8 last;

	if (head->half || in->prefix || in->rex)
		return -EOPNOTSUPP;
	head->vex = true;
	head->byte[head->bytes++] = first;
	head->byte[head->bytes++] = code_byte(c);
	if (!(head->byte[1] & 0x80))
		in->rex |= REX_R;
	head->map = VEX + 1;
	if (first == 0xc4) {
		in->rex |= head->byte[1] & 0x40 ? 0 : REX_X;
		in->rex |= head->byte[1] & 0x20 ? 0 : REX_B;
		head->map = VEX + (head->byte[1] & 0x1f);
		head->byte[head->bytes++] = code_byte(c);
	}
	last = head->byte[head->bytes - 1];
	head->other = ~last >> 3 & 0xf;
	return head->map > VEX && head->map <= VEX + 3 ? 0 : -EOPNOTSUPP;
}

/* Reads all bytes before the opcode. */
static int take_head(struct head *head, struct instruction *in, struct code *c)
{
	u8 byte = code_prefixes(c, in, &head->half);

	in->two_byte = byte == 0x0f;
	if (byte == 0xc4 || byte == 0xc5) {
		int ret = take_vex(head, in, c, byte);

		in->two_byte = true;
		in->opcode = code_byte(c);
		return ret;
	}
	if (byte == 0x0f) {
		head->map = TWO_BYTE;
		byte = code_byte(c);
	}
	if (head->map && (byte == 0x38 || byte == 0x3a)) {
		head->map = byte == 0x38 ? THREE_BYTE_38 : THREE_BYTE_3A;
		byte = code_byte(c);
	}
	in->opcode = byte;
	return 0;
}

static const struct row *row_of(const struct head *head, const struct instruction *in)
{
	u8 prefix = in->prefix == 0xf2	 ? F2
		    : in->prefix == 0xf3 ? F3
		    : in->prefix == 0x66 ? HALF
					 : PLAIN;
	u8 digit = DIGIT(in->modrm >> 3 & 0x7);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];

		if (row->map == head->map && row->first <= in->opcode &&
		    in->opcode <= row->last && row->prefixes & prefix &&
		    (row->digits ? row->digits : ALL_DIGITS) & digit)
			return row;
	}
	return NULL;
}

static bool may_be_stack_pointer(const struct row *row, const struct head *head,
				 const struct instruction *in)
{
	return row->general && (instruction_register(in) == REGISTER_SP ||
				(head->vex && head->other == REGISTER_SP));
}

static void put(struct transplant *to, u8 byte)
{
	to->code[to->bytes++] = byte;
}

static void put_head(struct transplant *to, const struct head *head)
{
	static const u8 escape[] = { [THREE_BYTE_38] = 0x38, [THREE_BYTE_3A] = 0x3a };
	const struct instruction *in = &to->in;
	u32 i;

	for (i = 0; i < head->bytes; i++)
		put(to, head->byte[i]);
	if (head->vex)
		return;
	if (head->half)
		put(to, 0x66);
	if (in->prefix && in->prefix != 0x66)
		put(to, in->prefix);
	if (in->rex)
		put(to, in->rex);
	if (head->map)
		put(to, 0x0f);
	if (head->map > TWO_BYTE)
		put(to, escape[head->map]);
}

/*
 * Writes the opcode, the ModR/M byte, space for the displacement, and the immediate.  The ModR/M
 * byte holds mode 0, the register, and 5.  This means an operand at a displacement from the
 * instruction pointer, whatever the REX prefix is.
 */
static void put_rest(struct transplant *to, const struct row *row, const u8 *immediate)
{
	u32 i;

	put(to, to->in.opcode);
	put(to, (to->in.modrm & 0x38) | 0x5);
	to->displacement = to->bytes;
	for (i = 0; i < 4; i++)
		put(to, 0);
	for (i = 0; i < row->immediate; i++)
		put(to, immediate[i]);
}

int transplant_decode(struct transplant *to, const u8 *code, size_t bytes)
{
	struct code c = code_at(code, bytes);
	struct instruction *in = &to->in;
	struct head head = {};
	const struct row *row;
	const u8 *immediate;

	*to = (struct transplant){};
	if (take_head(&head, in, &c))
		return -EOPNOTSUPP;
	code_address(&c, in);
	row = row_of(&head, in);
	if (!row || in->modrm >> 6 == 3 || may_be_stack_pointer(row, &head, in))
		return -EOPNOTSUPP;
	immediate = c.at;
	code_number(&c, row->immediate);
	if (c.cut_off)
		return -EOPNOTSUPP;
	in->length = (u8)(c.at - code);
	put_head(to, &head);
	put_rest(to, row, immediate);
	to->operand_bytes = row->operand_bytes ? row->operand_bytes : WIDEST;
	return 0;
}
