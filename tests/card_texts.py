# SPDX-License-Identifier: MIT
"""A small specification that uses every key, for tests to spoil."""

GOOD = """\
name: tiny
title: A tiny card
description: It has two registers and a ring.
config:
  {vendor: 1, device: 2, subsystem_vendor: 1, subsystem: 2, class_code: 0x088000, revision: 0}
capabilities:
  msi: {vectors: 2}
bars:
  - {number: 0, name: CONTROL, bytes: 4096, kind: memory32, description: All of it.}
registers:
  - name: STATUS
    bar: 0
    offset: 0x0
    width: 32
    reset: 0x20
    description: What happened.
    fields:
      - {name: DONE, bits: 0, access: w1c, description: It is done.}
      - name: LEVEL
        bits: 6:4
        access: ro
        reset: 2
        description: How full it is.
        values:
          - {name: EMPTY, value: 0, description: Nothing in it.}
          - {name: HALF, value: 2, description: Half full.}
  - name: ENABLE
    bar: 0
    offset: 0x4
    width: 32
    description: What interrupts.
    fields:
      - {name: DONE, bits: 0, access: rw, description: When it is done.}
  - {name: BASE, bar: 0, offset: 0x8, width: 64, access: rw, reset: 0, description: Address.}
  - {name: SIZE, bar: 0, offset: 0x10, width: 32, access: rw, reset: 0, description: Bytes.}
  - {name: HEAD, bar: 0, offset: 0x14, width: 32, access: ro, reset: 0, description: Next.}
  - {name: TAIL, bar: 0, offset: 0x18, width: 32, kind: doorbell, access: rw, reset: 0,
     description: Behind the last.}
interrupts:
  - name: done
    status: STATUS.DONE
    enable: ENABLE.DONE
    vector: 1
    description: It is done.
rings:
  - name: commands
    direction: to_device
    address: BASE
    length: SIZE
    doorbell: TAIL
    alignment: 16
    bytes_max: 4096
    entry_bytes: 16
    head: HEAD
    tail: TAIL
    description: Commands.
"""
