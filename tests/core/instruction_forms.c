// SPDX-License-Identifier: MIT
#include "check.h"
#include "instruction_forms.h"

#define FORMS_MAX 256

static struct form forms[FORMS_MAX];
static u32 nr_forms;

static void add(struct form form)
{
	CHECK(nr_forms < FORMS_MAX);
	forms[nr_forms++] = form;
}

/* Add the form for bytes, with an even opcode, and the form for words, with the next odd opcode. */
static void add_pair(struct form form)
{
	form.operand = 1;
	add(form);
	form.operand = 0;
	form.opcode++;
	add(form);
}

static u32 undefined_after(u32 operation)
{
	bool logical = operation == 1 || operation == 4 || operation == 6;

	return logical ? AF : 0;
}

static void add_arithmetic(void)
{
	u32 i;

	for (i = 0; i < 8; i++) {
		struct form form = { .opcode = i << 3,
				     .digit = NO_DIGIT,
				     .touch = i == 7 ? READS : CHANGES,
				     .lockable = i != 7,
				     .undefined = undefined_after(i) };

		add_pair(form);
		form.opcode += 2;
		form.touch = READS;
		form.lockable = false;
		add_pair(form);
		form = (struct form){ .opcode = 0x80,
				      .digit = i,
				      .touch = i == 7 ? READS : CHANGES,
				      .lockable = i != 7,
				      .undefined = undefined_after(i) };
		form.operand = form.immediate = 1;
		add(form);
		form.opcode = 0x83;
		form.operand = 0;
		add(form);
		form.opcode = 0x81;
		form.immediate = 4;
		add(form);
	}
}

static void add_unary(void)
{
	static const struct {
		u8 opcode;
		u32 digit;
	} unary[] = {
		{ 0xf6, 2 }, /* NOT */
		{ 0xf6, 3 }, /* NEG */
		{ 0xfe, 0 }, /* INC */
		{ 0xfe, 1 }, /* DEC */
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(unary); i++)
		add_pair((struct form){ .opcode = unary[i].opcode,
					.digit = unary[i].digit,
					.touch = CHANGES,
					.lockable = true });
	for (i = 0; i < 2; i++) { /* TEST with an immediate */
		add((struct form){ .opcode = 0xf6,
				   .digit = i,
				   .operand = 1,
				   .immediate = 1,
				   .touch = READS,
				   .undefined = AF });
		add((struct form){ .opcode = 0xf7,
				   .digit = i,
				   .immediate = 4,
				   .touch = READS,
				   .undefined = AF });
	}
	add_pair((struct form){
		.opcode = 0x84, .digit = NO_DIGIT, .touch = READS, .undefined = AF });
}

static void add_moves(void)
{
	u32 i;

	add_pair((struct form){ .opcode = 0x88, .digit = NO_DIGIT, .touch = WRITES });
	add_pair((struct form){ .opcode = 0x8a, .digit = NO_DIGIT, .touch = READS });
	add_pair((struct form){ .opcode = 0xa0, .layout = OFFSET, .touch = READS });
	add_pair((struct form){ .opcode = 0xa2, .layout = OFFSET, .touch = WRITES });
	add((struct form){
		.opcode = 0xc6, .operand = 1, .immediate = 1, .touch = WRITES });
	add((struct form){ .opcode = 0xc7, .immediate = 4, .touch = WRITES });
	add((struct form){ .opcode = 0x63, /* MOVSXD */
			   .digit = NO_DIGIT,
			   .device = 4,
			   .touch = READS,
			   .one_size_only = true });
	for (i = 0; i < 4; i++) /* MOVZX, MOVSX */
		add((struct form){ .opcode = (i & 2 ? 0xbe : 0xb6) + (i & 1),
				   .two_byte = true,
				   .digit = NO_DIGIT,
				   .device = 1 + (i & 1),
				   .touch = READS });
	add((struct form){ .opcode = 0xc3, /* MOVNTI */
			   .two_byte = true,
			   .digit = NO_DIGIT,
			   .touch = WRITES,
			   .one_size_only = true });
}

static void add_exchanges_and_bits(void)
{
	struct form exchange = { .digit = NO_DIGIT,
				 .touch = CHANGES,
				 .lockable = true };
	u32 i;

	exchange.opcode = 0x86; /* XCHG */
	add_pair(exchange);
	exchange.two_byte = true;
	exchange.opcode = 0xb0; /* CMPXCHG */
	add_pair(exchange);
	exchange.opcode = 0xc0; /* XADD */
	add_pair(exchange);
	for (i = 4; i < 8; i++) /* BT, BTS, BTR, BTC */
		add((struct form){ .opcode = 0xba,
				   .two_byte = true,
				   .digit = i,
				   .immediate = 1,
				   .touch = i == 4 ? READS : CHANGES,
				   .undefined = OF | SF | AF | PF,
				   .lockable = i != 4 });
}

static void add_strings(void)
{
	add_pair(
		(struct form){ .opcode = 0xa4, .layout = STRING_FROM, .touch = READS });
	add_pair((struct form){ .opcode = 0xa4, .layout = STRING_TO, .touch = WRITES });
	add_pair((struct form){ .opcode = 0xaa, .layout = STRING_TO, .touch = WRITES });
	add_pair(
		(struct form){ .opcode = 0xac, .layout = STRING_FROM, .touch = READS });
}

static void add_shifts(void)
{
	static const struct {
		u8 opcode;
		enum shift by;
	} kinds[] = {
		{ 0xc0, SHIFT_BY_IMMEDIATE },
		{ 0xd0, SHIFT_BY_ONE },
		{ 0xd2, SHIFT_BY_CL },
	};
	u32 i, k;

	for (i = 0; i < 8; i++) {
		for (k = 0; k < ARRAY_SIZE(kinds); k++)
			add_pair((struct form){ .opcode = kinds[k].opcode,
						.digit = i,
						.immediate = kinds[k].by ==
							     SHIFT_BY_IMMEDIATE,
						.touch = CHANGES,
						.shift = kinds[k].by });
	}
}

static void add_products(void)
{
	struct form product = { .opcode = 0xaf,
				.two_byte = true,
				.digit = NO_DIGIT,
				.touch = READS,
				.undefined = SF | ZF | AF | PF };

	add(product);
	product.two_byte = false;
	product.opcode = 0x69;
	product.immediate = 4;
	add(product);
	product.opcode = 0x6b;
	product.immediate = 1;
	add(product);
}

/* The opcodes of a vector load and the matching store; 0: no such instruction. */
static void add_vector(u8 prefix, u8 load, u8 store, u32 bytes, bool aligned)
{
	struct form form = { .prefix = prefix,
			     .two_byte = true,
			     .opcode = load,
			     .digit = NO_DIGIT,
			     .device = bytes,
			     .touch = READS,
			     .one_size_only = true,
			     .aligned = aligned };

	if (load)
		add(form);
	form.opcode = store;
	form.touch = WRITES;
	if (store)
		add(form);
}

static void add_vectors(void)
{
	add_vector(0, 0x10, 0x11, 16, false); /* MOVUPS */
	add_vector(0x66, 0x10, 0x11, 16, false); /* MOVUPD */
	add_vector(0xf3, 0x10, 0x11, 4, false); /* MOVSS */
	add_vector(0xf2, 0x10, 0x11, 8, false); /* MOVSD */
	add_vector(0, 0x12, 0x13, 8, false); /* MOVLPS */
	add_vector(0x66, 0x12, 0x13, 8, false); /* MOVLPD */
	add_vector(0, 0x16, 0x17, 8, false); /* MOVHPS */
	add_vector(0x66, 0x16, 0x17, 8, false); /* MOVHPD */
	add_vector(0, 0x28, 0x29, 16, true); /* MOVAPS */
	add_vector(0x66, 0x28, 0x29, 16, true); /* MOVAPD */
	add_vector(0, 0, 0x2b, 16, true); /* MOVNTPS */
	add_vector(0x66, 0, 0x2b, 16, true); /* MOVNTPD */
	add_vector(0x66, 0x6e, 0x7e, 0, false); /* MOVD, MOVQ */
	add_vector(0x66, 0x6f, 0x7f, 16, true); /* MOVDQA */
	add_vector(0xf3, 0x6f, 0x7f, 16, false); /* MOVDQU */
	add_vector(0xf3, 0x7e, 0, 8, false); /* MOVQ */
	add_vector(0x66, 0, 0xd6, 8, false);
	add_vector(0x66, 0, 0xe7, 16, true); /* MOVNTDQ */
	add_vector(0xf2, 0xf0, 0, 16, false); /* LDDQU */
}

const struct form *instruction_forms(u32 *count)
{
	if (!nr_forms) {
		add_arithmetic();
		add_unary();
		add_moves();
		add_exchanges_and_bits();
		add_strings();
		add_shifts();
		add_products();
		add_vectors();
	}
	*count = nr_forms;
	return forms;
}
