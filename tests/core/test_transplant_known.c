// SPDX-License-Identifier: MIT
/*
 * Which instructions are transplanted, with their lengths and the maximum size of their operands.
 */
#include "../../kernel/vpcib/transplant.h"
#include "check.h"

#define X87 108
#define FXSAVE 512
#define USUAL 64

static const struct known {
	u8 length;
	u16 operand_bytes;
	u8 code[INSTRUCTION_BYTES_MAX];
} known[] = {
	{ 2, X87, { 0xd8, 0x00 } }, /* fadds (%rax) */
	{ 2, X87, { 0xdd, 0x30 } }, /* fnsave (%rax) */
	{ 2, X87, { 0xdf, 0x38 } }, /* fistpll (%rax) */
	{ 3, X87, { 0x41, 0xdd, 0x10 } }, /* fstl (%r8) */
	{ 2, USUAL, { 0xf6, 0x20 } }, /* mulb (%rax) */
	{ 2, USUAL, { 0xf7, 0x38 } }, /* idivl (%rax) */
	{ 3, USUAL, { 0x0f, 0x10, 0x00 } }, /* movups (%rax), %xmm0 */
	{ 3, USUAL, { 0x0f, 0x17, 0x00 } }, /* movhps %xmm0, (%rax) */
	{ 3, USUAL, { 0x0f, 0x28, 0x00 } }, /* movaps (%rax), %xmm0 */
	{ 3, USUAL, { 0x0f, 0x2b, 0x00 } }, /* movntps %xmm0, (%rax) */
	{ 4, USUAL, { 0xf3, 0x0f, 0x2c, 0x00 } }, /* cvttss2si (%rax), %eax */
	{ 4, USUAL, { 0xf2, 0x0f, 0x2d, 0x00 } }, /* cvtsd2si (%rax), %eax */
	{ 3, USUAL, { 0x0f, 0x2e, 0x00 } }, /* ucomiss (%rax), %xmm0 */
	{ 4, USUAL, { 0x66, 0x0f, 0x2f, 0x00 } }, /* comisd (%rax), %xmm0 */
	{ 3, USUAL, { 0x0f, 0x40, 0x00 } }, /* cmovo (%rax), %eax */
	{ 3, USUAL, { 0x0f, 0x4f, 0x00 } }, /* cmovg (%rax), %eax */
	{ 3, USUAL, { 0x0f, 0x51, 0x20 } }, /* sqrtps (%rax), %xmm4 */
	{ 3, USUAL, { 0x0f, 0x6f, 0x00 } }, /* movq (%rax), %mm0 */
	{ 4, USUAL, { 0x0f, 0x70, 0x00, 0x1b } }, /* pshufw $27, (%rax), %mm0 */
	{ 3, USUAL, { 0x0f, 0x74, 0x00 } }, /* pcmpeqb (%rax), %mm0 */
	{ 3, USUAL, { 0x0f, 0x76, 0x00 } }, /* pcmpeqd (%rax), %mm0 */
	{ 4, USUAL, { 0xf2, 0x0f, 0x7c, 0x00 } }, /* haddps (%rax), %xmm0 */
	{ 4, USUAL, { 0xf3, 0x0f, 0x7f, 0x00 } }, /* movdqu %xmm0, (%rax) */
	{ 3, USUAL, { 0x0f, 0x90, 0x20 } }, /* seto (%rax) */
	{ 3, USUAL, { 0x0f, 0x9f, 0x00 } }, /* setg (%rax) */
	{ 4, USUAL, { 0x0f, 0xa4, 0x00, 0x03 } }, /* shld $3, %eax, (%rax) */
	{ 3, USUAL, { 0x0f, 0xa5, 0x00 } }, /* shld %cl, %eax, (%rax) */
	{ 4, USUAL, { 0x0f, 0xac, 0x00, 0x03 } }, /* shrd $3, %eax, (%rax) */
	{ 3, USUAL, { 0x0f, 0xad, 0x00 } }, /* shrd %cl, %eax, (%rax) */
	{ 3, FXSAVE, { 0x0f, 0xae, 0x00 } }, /* fxsave (%rax) */
	{ 4, FXSAVE, { 0x48, 0x0f, 0xae, 0x08 } }, /* fxrstor64 (%rax) */
	{ 3, USUAL, { 0x0f, 0xae, 0x10 } }, /* ldmxcsr (%rax) */
	{ 3, USUAL, { 0x0f, 0xae, 0x18 } }, /* stmxcsr (%rax) */
	{ 4, USUAL, { 0xf3, 0x0f, 0xb8, 0x00 } }, /* popcnt (%rax), %eax */
	{ 3, USUAL, { 0x0f, 0xbc, 0x00 } }, /* bsf (%rax), %eax */
	{ 4, USUAL, { 0xf3, 0x0f, 0xbd, 0x00 } }, /* lzcnt (%rax), %eax */
	{ 5, USUAL, { 0xf2, 0x0f, 0xc2, 0x00, 0x01 } }, /* cmpltsd (%rax), %xmm0 */
	{ 4, USUAL, { 0x0f, 0xc4, 0x00, 0x01 } }, /* pinsrw $1, (%rax), %mm0 */
	{ 4, USUAL, { 0x0f, 0xc6, 0x00, 0x1b } }, /* shufps $27, (%rax), %xmm0 */
	{ 3, USUAL, { 0x0f, 0xc7, 0x08 } }, /* cmpxchg8b (%rax) */
	{ 5, USUAL, { 0xf0, 0x48, 0x0f, 0xc7, 0x08 } }, /* lock cmpxchg16b (%rax) */
	{ 4, USUAL, { 0x66, 0x0f, 0xd0, 0x00 } }, /* addsubpd (%rax), %xmm0 */
	{ 4, USUAL, { 0x66, 0x0f, 0xd6, 0x00 } }, /* movq %xmm0, (%rax) */
	{ 3, USUAL, { 0x0f, 0xd8, 0x00 } }, /* psubusb (%rax), %mm0 */
	{ 3, USUAL, { 0x0f, 0xf6, 0x00 } }, /* psadbw (%rax), %mm0 */
	{ 3, USUAL, { 0x0f, 0xf8, 0x00 } }, /* psubb (%rax), %mm0 */
	{ 3, USUAL, { 0x0f, 0xfe, 0x00 } }, /* paddd (%rax), %mm0 */
	{ 4, USUAL, { 0x0f, 0x38, 0x00, 0x00 } }, /* pshufb (%rax), %mm0 */
	{ 5, USUAL, { 0x66, 0x0f, 0x38, 0x41, 0x00 } }, /* phminposuw */
	{ 4, USUAL, { 0x0f, 0x38, 0xc8, 0x00 } }, /* sha1nexte (%rax), %xmm0 */
	{ 5, USUAL, { 0x66, 0x0f, 0x38, 0xcf, 0x00 } }, /* gf2p8mulb */
	{ 5, USUAL, { 0x66, 0x0f, 0x38, 0xdb, 0x00 } }, /* aesimc (%rax), %xmm0 */
	{ 5, USUAL, { 0x66, 0x0f, 0x38, 0xdf, 0x00 } }, /* aesdeclast */
	{ 4, USUAL, { 0x0f, 0x38, 0xf0, 0x00 } }, /* movbe (%rax), %eax */
	{ 5, USUAL, { 0xf2, 0x0f, 0x38, 0xf1, 0x00 } }, /* crc32l (%rax), %eax */
	{ 6, USUAL, { 0x66, 0xf2, 0x0f, 0x38, 0xf1, 0x00 } }, /* crc32w (%rax), %eax */
	{ 5, USUAL, { 0x66, 0x0f, 0x38, 0xf6, 0x00 } }, /* adcx (%rax), %eax */
	{ 5, USUAL, { 0xf3, 0x0f, 0x38, 0xf6, 0x00 } }, /* adox (%rax), %eax */
	{ 6, USUAL, { 0x66, 0x0f, 0x3a, 0x08, 0x00, 0x01 } }, /* roundps */
	{ 5, USUAL, { 0x0f, 0x3a, 0x0f, 0x00, 0x01 } }, /* palignr, of MMX */
	{ 6, USUAL, { 0x66, 0x0f, 0x3a, 0x63, 0x00, 0x01 } }, /* pcmpistri */
	{ 5, USUAL, { 0x0f, 0x3a, 0xcc, 0x00, 0x01 } }, /* sha1rnds4 */
	{ 6, USUAL, { 0x66, 0x0f, 0x3a, 0xce, 0x00, 0x01 } }, /* gf2p8affineqb */
	{ 6, USUAL, { 0x66, 0x0f, 0x3a, 0xcf, 0x00, 0x01 } }, /* gf2p8affineinvqb */
	{ 6, USUAL, { 0x66, 0x0f, 0x3a, 0xdf, 0x00, 0x01 } }, /* aeskeygenassist */
	{ 4, USUAL, { 0xc5, 0xfc, 0x10, 0x00 } }, /* vmovups (%rax), %ymm0 */
	{ 4, USUAL, { 0xc5, 0xf8, 0x17, 0x00 } }, /* vmovhps %xmm0, (%rax) */
	{ 4, USUAL, { 0xc5, 0xfc, 0x28, 0x20 } }, /* vmovaps (%rax), %ymm4 */
	{ 4, USUAL, { 0xc5, 0xfc, 0x2b, 0x00 } }, /* vmovntps %ymm0, (%rax) */
	{ 4, USUAL, { 0xc5, 0xfa, 0x2c, 0x00 } }, /* vcvttss2si (%rax), %eax */
	{ 4, USUAL, { 0xc5, 0xfb, 0x2d, 0x00 } }, /* vcvtsd2si (%rax), %eax */
	{ 4, USUAL, { 0xc5, 0xf8, 0x2e, 0x00 } }, /* vucomiss (%rax), %xmm0 */
	{ 4, USUAL, { 0xc5, 0xf9, 0x2f, 0x00 } }, /* vcomisd (%rax), %xmm0 */
	{ 4, USUAL, { 0xc5, 0xfc, 0x51, 0x00 } }, /* vsqrtps (%rax), %ymm0 */
	{ 4, USUAL, { 0xc5, 0xdc, 0x58, 0x00 } }, /* vaddps (%rax), %ymm4, %ymm0 */
	{ 4, USUAL, { 0xc5, 0xfe, 0x6f, 0x00 } }, /* vmovdqu (%rax), %ymm0 */
	{ 5, USUAL, { 0xc5, 0xfd, 0x70, 0x00, 0x1b } }, /* vpshufd */
	{ 4, USUAL, { 0xc5, 0xfd, 0x74, 0x00 } }, /* vpcmpeqb */
	{ 4, USUAL, { 0xc5, 0xfd, 0x76, 0x00 } }, /* vpcmpeqd */
	{ 4, USUAL, { 0xc5, 0xff, 0x7c, 0x00 } }, /* vhaddps */
	{ 4, USUAL, { 0xc5, 0xfe, 0x7f, 0x00 } }, /* vmovdqu %ymm0, (%rax) */
	{ 4, USUAL, { 0xc5, 0xf8, 0xae, 0x10 } }, /* vldmxcsr (%rax) */
	{ 4, USUAL, { 0xc5, 0xf8, 0xae, 0x18 } }, /* vstmxcsr (%rax) */
	{ 5, USUAL, { 0xc5, 0xfc, 0xc2, 0x00, 0x01 } }, /* vcmpltps */
	{ 5, USUAL, { 0xc5, 0xf9, 0xc4, 0x00, 0x01 } }, /* vpinsrw */
	{ 5, USUAL, { 0xc5, 0xfc, 0xc6, 0x00, 0x1b } }, /* vshufps */
	{ 4, USUAL, { 0xc5, 0xfd, 0xd0, 0x00 } }, /* vaddsubpd */
	{ 4, USUAL, { 0xc5, 0xf9, 0xd6, 0x00 } }, /* vmovq %xmm0, (%rax) */
	{ 4, USUAL, { 0xc5, 0xfd, 0xd8, 0x00 } }, /* vpsubusb */
	{ 4, USUAL, { 0xc5, 0xfd, 0xf6, 0x00 } }, /* vpsadbw */
	{ 4, USUAL, { 0xc5, 0xfd, 0xf8, 0x00 } }, /* vpsubb */
	{ 4, USUAL, { 0xc5, 0xfd, 0xfe, 0x00 } }, /* vpaddd */
	{ 5, USUAL, { 0xc4, 0xe2, 0x7d, 0x00, 0x00 } }, /* vpshufb */
	{ 5, USUAL, { 0xc4, 0xe2, 0x7d, 0x47, 0x00 } }, /* vpsllvd */
	{ 5, USUAL, { 0xc4, 0xe2, 0x7d, 0x50, 0x00 } }, /* vpdpbusd */
	{ 5, USUAL, { 0xc4, 0xe2, 0x7d, 0x5a, 0x00 } }, /* vbroadcasti128 */
	{ 5, USUAL, { 0xc4, 0xe2, 0x7d, 0x78, 0x00 } }, /* vpbroadcastb */
	{ 5, USUAL, { 0xc4, 0xe2, 0x7d, 0x79, 0x00 } }, /* vpbroadcastw */
	{ 5, USUAL, { 0xc4, 0xe2, 0x7d, 0x8c, 0x00 } }, /* vpmaskmovd (%rax) */
	{ 5, USUAL, { 0xc4, 0xe2, 0x7d, 0x8e, 0x00 } }, /* vpmaskmovd to (%rax) */
	{ 5, USUAL, { 0xc4, 0xe2, 0x7d, 0x96, 0x00 } }, /* vfmaddsub132ps */
	{ 5, USUAL, { 0xc4, 0xe2, 0x7d, 0xbf, 0x00 } }, /* vfnmsub231ss */
	{ 5, USUAL, { 0xc4, 0xe2, 0x7d, 0xcf, 0x00 } }, /* vgf2p8mulb */
	{ 5, USUAL, { 0xc4, 0xe2, 0x79, 0xdb, 0x00 } }, /* vaesimc */
	{ 5, USUAL, { 0xc4, 0xe2, 0x7d, 0xdf, 0x00 } }, /* vaesdeclast */
	{ 5, USUAL, { 0xc4, 0xe2, 0x78, 0xf2, 0x00 } }, /* andn (%rax), %eax, %eax */
	{ 5, USUAL, { 0xc4, 0xe2, 0x79, 0xf7, 0x00 } }, /* shlx %eax, (%rax), %eax */
	{ 6, USUAL, { 0xc4, 0xe3, 0x7d, 0x00, 0x00, 0x1b } }, /* vpermq */
	{ 6, USUAL, { 0xc4, 0xe3, 0x79, 0xdf, 0x00, 0x01 } }, /* vaeskeygenassist */
	{ 6,
	  USUAL,
	  { 0xc4, 0xe3, 0x7b, 0xf0, 0x00, 0x01 } }, /* rorx $1, (%rax), %eax */
	{ 10, USUAL, { 0x66, 0x44, 0x0f, 0x58, 0x84, 0x48, 1, 2, 3, 4 } }, /* addpd */
	{ 6, USUAL, { 0x65, 0xc5, 0xfc, 0x10, 0x48, 0x10 } }, /* vmovups %gs:16(%rax) */
};

/*
 * Return whether an opcode of a map with (%rax) is accepted.  Maps: none, 0F, 0F 38, 0F 3A, and 1
 * to 3 of VEX.
 */
static bool is_known(u32 map, u32 prefix, u32 opcode, u32 digit)
{
	static const u8 prefixes[] = { 0, 0x66, 0xf3, 0xf2 };
	u8 code[INSTRUCTION_BYTES_MAX] = {};
	struct transplant made;
	u32 n = 0;

	if (map > 3) {
		code[n++] = 0xc4;
		code[n++] = 0xe0 | (map - 3);
		code[n++] = 0x78 | prefix;
	} else {
		if (prefix)
			code[n++] = prefixes[prefix];
		if (map)
			code[n++] = 0x0f;
		if (map > 1)
			code[n++] = map == 2 ? 0x38 : 0x3a;
	}
	code[n++] = opcode;
	code[n++] = digit << 3;
	return !transplant_decode(&made, code, sizeof(code)) &&
	       made.in.opcode == opcode;
}

/* Count the accepted instructions; the numbers catch accidental changes of the list. */
static void count_them(void)
{
	static const u32 expected[] = { 288, 4430, 1280, 1504, 3296, 4520, 7196 };
	u32 map, prefix, opcode, digit;

	for (map = 0; map < ARRAY_SIZE(expected); map++) {
		u32 count = 0;

		for (prefix = 0; prefix < 4; prefix++) {
			for (opcode = 0; opcode < 256; opcode++) {
				for (digit = 0; digit < 8; digit++)
					count += is_known(map, prefix, opcode, digit);
			}
		}
		CHECK_EQ(count, expected[map]);
	}
}

int main(void)
{
	struct transplant made;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		const struct known *one = &known[i];

		if (transplant_decode(&made, one->code, INSTRUCTION_BYTES_MAX))
			CHECK_FAIL("number %u is refused", i);
		if (made.in.length != one->length ||
		    made.operand_bytes != one->operand_bytes)
			CHECK_FAIL("number %u has %u bytes, and its operand %u", i,
				   made.in.length, made.operand_bytes);
	}
	count_them();
	return 0;
}
