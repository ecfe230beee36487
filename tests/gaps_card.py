# SPDX-License-Identifier: MIT
"""A card with what a bus may have and our own cards do not need: a BAR of 16 bytes, the MSI-X table
beside registers, an array of registers, a read and a write register at one address, and a 64-bit
register at a multiple of 4.
"""

GAPS = """\
name: gaps
title: A card with all that is unusual
description: What is written to TRANSMIT comes back from RECEIVE, plus 1, with an interrupt.
config: {vendor: 0x1234, device: 0x0a95, subsystem_vendor: 0x1234, subsystem: 0x0001,
         class_code: 0x118000, revision: 1}
capabilities:
  msix: {vectors: 3, bar: 2, table: 0x800, pending: 0x880}
bars:
  - {number: 0, name: SMALL, bytes: 16, kind: memory32, description: Few registers.}
  - {number: 2, name: LARGE, bytes: 4096, kind: memory64, description: Registers and vectors.}
registers:
  - {name: RECEIVE, bar: 0, offset: 0, width: 8, kind: port, access: ro, description: A byte.}
  - {name: TRANSMIT, bar: 0, offset: 0, width: 8, kind: port, access: wo, description: A byte.}
  - {name: WIDE, bar: 0, offset: 4, width: 64, access: rw, reset: 0x123456789, description: At 4.}
  - name: STATUS
    bar: 2
    offset: 0x10
    width: 32
    description: The events.
    fields:
      - {name: RECEIVED, bits: 0, access: w1c, description: A byte is in RECEIVE.}
  - name: SLOT
    bar: 2
    offset: 0x100
    width: 32
    count: 4
    stride: 16
    description: The slots.
    fields:
      - {name: LEVEL, bits: "7:0", access: rw, reset: 5, description: Anything.}
      - name: MODE
        bits: "9:8"
        access: rw
        description: How.
        values:
          - {name: SLOW, value: 0, description: slowly}
          - {name: FAST, value: 2, description: fast}
  - {name: BETWEEN, bar: 2, offset: 0x104, width: 32, access: rw, description: In a gap.}
interrupts:
  - {name: received, status: STATUS.RECEIVED, vector: 2, description: A byte has come back.}
"""
BEHAVIOUR = """\
#include "../kernel/vgpu/device.h"
#include "gaps_registers.h"
#include "gaps_table.h"

static void stored(struct vgpu *device, u32 index, u64 value)
{
	if (index != GAPS_INDEX_TRANSMIT)
		return;
	vgpu_set(device, GAPS_INDEX_RECEIVE, value + 1);
	vgpu_set_bits(device, GAPS_INDEX_STATUS, GAPS_STATUS_RECEIVED_MASK);
}

const struct behaviour card_behaviour = { .table = &gaps_table, .stored = stored };
"""
