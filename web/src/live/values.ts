// SPDX-License-Identifier: MIT
// The values of a card's registers after any access of a journal, as far as the accesses show them:
// those to the card in one slot, since a journal has the accesses to all cards of the bus.

import type { Access, Card, Register } from "./server";

const EVERY = 1000; // accesses from one saved state to the next

interface Masks {
  plain: bigint; // a store replaces these bits
  clears: bigint; // writing 1 clears
  sets: bigint; // writing 1 sets
  toggles: bigint; // writing 1 inverts
  atZero: bigint; // of the three: writing 0 does so
  always: bigint; // of the three: any write does so
}

export interface State {
  values: bigint[];
  last: number[]; // the number of the last access to each register; -1: none
}

export function maskOf(bits: string): { mask: bigint; low: bigint } {
  const [high, low] = bits.split(":").map(Number) as [number, number?];
  const from = BigInt(low ?? high);
  return { mask: ((1n << (BigInt(high) - from + 1n)) - 1n) << from, low: from };
}

const initial = ({ reset, fields }: Register) =>
  reset === null
    ? fields.reduce((sum, field) => sum | (BigInt(field.reset) << maskOf(field.bits).low), 0n)
    : BigInt(reset);

function masksOf({ width, access, fields }: Register): Masks {
  const whole = (1n << BigInt(width)) - 1n;
  const all = access ? [{ access, mask: whole }] : [];
  const parts = fields.map((field) => ({ access: field.access, mask: maskOf(field.bits).mask }));
  const of = (...kinds: string[]) =>
    [...all, ...parts].reduce((sum, one) => (kinds.includes(one.access) ? sum | one.mask : sum), 0n);
  return {
    plain: of("rw", "wo"),
    clears: of("w1c", "w0c", "wc"),
    sets: of("w1s", "w0s", "ws"),
    toggles: of("w1t", "w0t"),
    atZero: of("w0c", "w0s", "w0t"),
    always: of("wc", "ws"),
  };
}

/** Replays a journal's accesses, forwards and backwards. */
export class Replay {
  readonly #slot: number;
  readonly #initial: bigint[];
  readonly #masks: Masks[];
  readonly #saved: State[];

  constructor(card: Card, slot: number) {
    this.#slot = slot;
    this.#initial = card.registers.map(initial);
    this.#masks = card.registers.map(masksOf);
    this.#saved = [{ values: this.#initial, last: this.#initial.map(() => -1) }];
  }

  /** Return the state after the first `count` accesses. */
  after(accesses: Access[], count: number): State {
    const from = Math.min(Math.floor(count / EVERY), this.#saved.length - 1);
    const begin = this.#saved[from]!;
    const state = { values: [...begin.values], last: [...begin.last] };
    for (let index = from * EVERY; index < count; index++) {
      this.#apply(state, accesses[index]!, index);
      if ((index + 1) % EVERY === 0 && this.#saved.length === (index + 1) / EVERY) {
        this.#saved.push({ values: [...state.values], last: [...state.last] });
      }
    }
    return state;
  }

  #apply(state: State, [, , , , what, , parts, isLost, slot]: Access, index: number): void {
    if (slot !== this.#slot) return;
    if (["added", "removed", "reset"].includes(what)) state.values = [...this.#initial];
    for (const [register, lanesText, valueText] of parts) {
      const [lanes, value] = [BigInt(lanesText), BigInt(valueText)];
      const { plain, clears, sets, toggles, atZero, always } = this.#masks[register]!;
      const acts = ((value ^ atZero) | always) & lanes;
      const old = state.values[register]!;
      state.last[register] = index;
      if (isLost) continue;
      state.values[register] =
        what === "load"
          ? (old & ~lanes) | value
          : ((((old & ~(lanes & plain)) | (value & plain)) & ~(acts & clears)) | (acts & sets)) ^
            (acts & toggles);
    }
  }
}
