// SPDX-License-Identifier: GPL-2.0
/*
 * The behaviour of the serial port (uart16550.yaml): FIFOs, the divisor's two bytes, the reasons to
 * interrupt and their order, and the loop-back plug.
 */
#include <linux/module.h>

#include "../kernel/vgpu/device.h"
#include "uart16550_registers.h"
#include "uart16550_table.h"

#define FIFO_BYTES 16
#define IER_DATA 0x01
#define IER_EMPTY 0x02
#define IER_ALL 0x0f
#define IIR_NONE 0x01
#define IIR_EMPTY 0x02
#define IIR_DATA 0x04
#define IIR_FIFOS 0xc0
#define FCR_ON 0x01
#define FCR_CLEAR_RECEIVER 0x02

/**
 * struct uart - what the registers do not show
 * @fifo, @first, @count: received bytes
 * @fifos: the FIFOs are on; otherwise one byte has room
 * @ier: which interrupts are enabled
 * @divisor: its two bytes
 * @emptied: the transmitter has become empty, and FCR_IIR has not said so yet
 * @raised: the port interrupts
 */
struct uart {
	u8 fifo[FIFO_BYTES];
	u32 first;
	u32 count;
	bool fifos;
	u8 ier;
	u8 divisor[2];
	bool emptied;
	bool raised;
};

static bool shows_divisor(const struct vgpu *device)
{
	return vgpu_get(device, UART16550_INDEX_LCR) & UART16550_LCR_DLAB_MASK;
}

static u8 reason(const struct uart *uart)
{
	if (uart->ier & IER_DATA && uart->count)
		return IIR_DATA;
	return uart->ier & IER_EMPTY && uart->emptied ? IIR_EMPTY : IIR_NONE;
}

/* Shows the port's state in its registers, and interrupts while there is a reason. */
static void update(struct vgpu *device)
{
	struct uart *uart = device->state;
	bool raise = reason(uart) != IIR_NONE;

	if (uart->count)
		vgpu_set_bits(device, UART16550_INDEX_LSR, UART16550_LSR_DR_MASK);
	else
		vgpu_clear_bits(device, UART16550_INDEX_LSR, UART16550_LSR_DR_MASK);
	if (raise && !uart->raised)
		vgpu_assert(device, 0);
	if (!raise)
		vgpu_deassert(device, 0);
	uart->raised = raise;
}

static void receive(struct vgpu *device, u8 byte)
{
	struct uart *uart = device->state;
	u32 room = uart->fifos ? FIFO_BYTES : 1;

	if (uart->count >= room)
		vgpu_set_bits(device, UART16550_INDEX_LSR, UART16550_LSR_OE_MASK);
	else
		uart->fifo[(uart->first + uart->count++) % FIFO_BYTES] = byte;
}

/* A driver is about to read: the register gets what it will read. */
static void loading(struct vgpu *device, u32 index)
{
	struct uart *uart = device->state;
	u8 why = reason(uart);

	if (index == UART16550_INDEX_FCR_IIR) {
		vgpu_set(device, index, why | (uart->fifos ? IIR_FIFOS : 0));
		if (why == IIR_EMPTY)
			uart->emptied = false;
	} else if (index == UART16550_INDEX_IER) {
		vgpu_set(device, index,
			 shows_divisor(device) ? uart->divisor[1] : uart->ier);
	} else if (index == UART16550_INDEX_DATA && shows_divisor(device)) {
		vgpu_set(device, index, uart->divisor[0]);
	} else if (index == UART16550_INDEX_DATA && uart->count) {
		vgpu_set(device, index, uart->fifo[uart->first]);
		uart->first = (uart->first + 1) % FIFO_BYTES;
		uart->count--;
	}
	update(device);
}

static void control_fifos(struct uart *uart, u8 value)
{
	bool on = value & FCR_ON;

	if (on != uart->fifos || value & FCR_CLEAR_RECEIVER)
		uart->count = 0;
	uart->fifos = on;
}

/* With MCR.LOOP, the modem's inputs are the port's outputs. */
static void connect_modem(struct vgpu *device, u8 mcr)
{
	u8 msr = UART16550_MSR_CTS_MASK | UART16550_MSR_DSR_MASK |
		 UART16550_MSR_DCD_MASK;

	if (mcr & UART16550_MCR_LOOP_MASK)
		msr = (mcr & UART16550_MCR_RTS_MASK ? UART16550_MSR_CTS_MASK : 0) |
		      (mcr & UART16550_MCR_DTR_MASK ? UART16550_MSR_DSR_MASK : 0) |
		      (mcr & UART16550_MCR_OUT1_MASK ? UART16550_MSR_RI_MASK : 0) |
		      (mcr & UART16550_MCR_OUT2_MASK ? UART16550_MSR_DCD_MASK : 0);
	vgpu_set(device, UART16550_INDEX_MSR, msr);
}

static void stored(struct vgpu *device, u32 index, u64 value)
{
	struct uart *uart = device->state;
	bool divisor = shows_divisor(device);

	if (index == UART16550_INDEX_MCR) {
		connect_modem(device, value);
	} else if (index == UART16550_INDEX_FCR_IIR) {
		control_fifos(uart, value);
	} else if (divisor && index <= UART16550_INDEX_IER) {
		uart->divisor[index] = value;
	} else if (index == UART16550_INDEX_DATA) {
		receive(device, value);
		uart->emptied = true;
	} else if (index == UART16550_INDEX_IER) {
		uart->emptied |= value & ~uart->ier & IER_EMPTY;
		uart->ier = value & IER_ALL;
	}
	update(device);
}

static void reset(struct vgpu *device)
{
	memset(device->state, 0, sizeof(struct uart));
}

const struct behaviour card_behaviour = {
	.table = &uart16550_table,
	.state_bytes = sizeof(struct uart),
	.loading = loading,
	.stored = stored,
	.reset = reset,
};
