/* SPDX-License-Identifier: MIT
 *
 * A guest in one sector, for tests of the lab: it boots in a moment, also without KVM.
 *
 * It prints "counter N" with N from the disk's second sector.  A letter at its serial port makes it
 * w: add one to N, write N to the disk, and print "wrote N"
 * p: print "memory M", where M counts the letters p since the boot, and is nowhere on the disk
 * d: write 64 KiB of the disk after another, until one fails ("d", "full")
 * Anything else is echoed.  What is typed at its keyboard is printed on the screen and at the serial
 * port.  It powers off when the power button is pressed.
 */
	.code16
	.globl _start
_start:
	xorw %ax, %ax
	movw %ax, %ds
	movw %ax, %es
	movw %ax, %ss
	movw $0x7c00, %sp
	movb %dl, drive
	movw $0x602, %dx		/* let the power button set its bit */
	movw $0x100, %ax
	outw %ax, %dx
	movb $0x42, %ah			/* read the second sector */
	call disk
	movw $counter, %si
	movw buffer, %ax
	call print
loop:
	movw $0x600, %dx
	inw %dx, %ax
	testb $1, %ah
	jz 1f
	movw $0x604, %dx
	movw $0x2000, %ax
	outw %ax, %dx
1:	movb $1, %ah			/* is a key waiting? */
	int $0x16
	jz 2f
	movb $0, %ah
	int $0x16
	call put
	movb $0x0e, %ah
	int $0x10
	jmp loop
2:	movw $0x3fd, %dx
	inb %dx, %al
	testb $1, %al
	jz loop
	movw $0x3f8, %dx
	inb %dx, %al
	cmpb $'w', %al
	je write
	cmpb $'p', %al
	je pages
	cmpb $'d', %al
	je fill
	call put
	jmp loop
write:
	incw buffer
	movb $0x43, %ah
	call disk
	movw $wrote, %si
	movw buffer, %ax
	call print
	jmp loop
pages:
	incw presses
	movw $memory, %si
	movw presses, %ax
	call print
	jmp loop
fill:
	call put
1:	addl $128, place
	movb $0x43, %ah
	call disk
	jnc 1b
	movw $full, %si
	call print
	jmp loop

disk:					/* ah: 0x42 reads, 0x43 writes */
	movb $0, %al
	movb drive, %dl
	movw $packet, %si
	int $0x13
	ret

print:					/* the text at si, the number ax, the end of the line */
	pushw %ax
1:	lodsb
	testb %al, %al
	jz 2f
	call put
	jmp 1b
2:	popw %ax
	movw $4, %cx
3:	rolw $4, %ax
	pushw %ax
	andb $15, %al
	addb $'0', %al
	cmpb $'9', %al
	jbe 4f
	addb $39, %al
4:	call put
	popw %ax
	loop 3b
	movb $'\r', %al
	call put
	movb $'\n', %al
put:					/* the letter al */
	pushw %dx
	pushw %ax
	movw $0x3fd, %dx
1:	inb %dx, %al
	testb $0x20, %al
	jz 1b
	popw %ax
	movw $0x3f8, %dx
	outb %al, %dx
	popw %dx
	ret

counter: .asciz "counter "
wrote:	.asciz "wrote "
memory:	.asciz "memory "
full:	.asciz "full "
drive:	.byte 0
presses: .word 0
	.balign 4
packet:	.byte 16, 0
	.word 1				/* sectors */
	.word buffer, 0			/* where in memory */
place:	.long 1, 0			/* first sector */
	.org 510
	.word 0xaa55
	.org 1024
buffer:
