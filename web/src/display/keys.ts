// SPDX-License-Identifier: MIT
// Keys of a US keyboard, as VNC names them: a keysym (X11) and the place of the key (KeyboardEvent.code).
// QEMU takes the place, so the guest has to expect a US keyboard, which is the default everywhere.

export interface Key {
  keysym: number;
  code: string;
}

export const SHIFT: Key = { keysym: 0xffe1, code: "ShiftLeft" };
const CONTROL: Key = { keysym: 0xffe3, code: "ControlLeft" };
const ALT: Key = { keysym: 0xffe9, code: "AltLeft" };
const ENTER: Key = { keysym: 0xff0d, code: "Enter" };
const TAB: Key = { keysym: 0xff09, code: "Tab" };
const F1 = 0xffbe;

const letter = (name: string): Key => ({ keysym: name.charCodeAt(0) + 32, code: `Key${name}` });
const functionKey = (number: number): Key => ({ keysym: F1 + number - 1, code: `F${number}` });

/** Keys that a browser or the desktop keeps for itself. */
export const SWALLOWED: { name: string; keys: Key[] }[] = [
  { name: "Ctrl-Alt-Del", keys: [CONTROL, ALT, { keysym: 0xffff, code: "Delete" }] },
  { name: "Esc", keys: [{ keysym: 0xff1b, code: "Escape" }] },
  { name: "Tab", keys: [TAB] },
  { name: "Alt-Tab", keys: [ALT, TAB] },
  ...["C", "N", "Q", "T", "W"].map((name) => ({
    name: `Ctrl-${name}`,
    keys: [CONTROL, letter(name)],
  })),
  { name: "Alt-F4", keys: [ALT, functionKey(4)] },
  ...[1, 5, 11, 12].map((number) => ({ name: `F${number}`, keys: [functionKey(number)] })),
  ...[1, 2, 7].map((number) => ({
    name: `Ctrl-Alt-F${number}`,
    keys: [CONTROL, ALT, functionKey(number)],
  })),
];

const ROWS: [plain: string, shifted: string, codes: string[]][] = [
  ["1234567890", "!@#$%^&*()", [..."1234567890"].map((digit) => `Digit${digit}`)],
  [
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].map((name) => `Key${name}`),
  ],
  ["`-=[]\\", "~_+{}|", ["Backquote", "Minus", "Equal", "BracketLeft", "BracketRight", "Backslash"]],
  [";',./", ':"<>?', ["Semicolon", "Quote", "Comma", "Period", "Slash"]],
  [" ", "", ["Space"]],
];

/** The key for each character, and whether it needs Shift. */
const KEYS = new Map<string, { key: Key; shift: boolean }>([
  ["\n", { key: ENTER, shift: false }],
  ["\t", { key: TAB, shift: false }],
]);
for (const [plain, shifted, codes] of ROWS) {
  for (const [row, shift] of [
    [plain, false],
    [shifted, true],
  ] as const) {
    [...row].forEach((character, place) => {
      const key = { keysym: character.charCodeAt(0), code: codes[place]! };
      KEYS.set(character, { key, shift });
    });
  }
}

/** Return the keys that type a text, or the first character that a US keyboard does not have. */
export function keysOf(text: string): { key: Key; shift: boolean }[] | string {
  const keys = [];
  for (const character of text.replaceAll("\r\n", "\n")) {
    const stroke = KEYS.get(character);
    if (!stroke) return character;
    keys.push(stroke);
  }
  return keys;
}
