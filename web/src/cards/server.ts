// SPDX-License-Identifier: MIT
// The requests for cards (understudy_devices/studio/card_requests.py).

import { asked as askedOf, Refused } from "../served";
import type { Part } from "./document";
import type { Schema } from "./schema";

export interface Listed {
  folder: string;
  cards: { name: string; mistakes?: number; error?: string }[];
  begin: { [name: string]: string };
  varied: string[];
  schema: Schema;
}

export interface Mistake {
  line: number;
  place: (string | number)[];
  reason: string;
}

export interface Draft {
  text: string;
  document: Part | null;
  mistakes: Mistake[];
  files: { [name: string]: string } | null;
}

export interface Card extends Draft {
  name: string;
  revision: string;
}

export interface Version {
  commit: string;
  at_s: number;
  message: string;
}

/** Somebody else has saved the card. */
export class Conflict extends Error {
  constructor(
    message: string,
    readonly theirs: Card | null,
    readonly difference: string[] | null,
  ) {
    super(message);
  }
}

async function asked<Answer>(path: string, body?: object): Promise<Answer> {
  try {
    return await askedOf<Answer>(`cards${path}`, body);
  } catch (error) {
    if (!(error instanceof Refused) || error.answer.theirs === undefined) throw error;
    const { theirs, difference } = error.answer;
    throw new Conflict(error.message, theirs as Card | null, (difference ?? null) as string[] | null);
  }
}

export const list = () => asked<Listed>("");

export const open = (name: string) => asked<Card>(`/${name}`);

export const check = (name: string, text: string, document: Part | null) =>
  asked<Draft>(`/${name}/check`, document ? { text, document } : { text });

export const save = (name: string, text: string, base: string | null, message: string) =>
  asked<Card>(`/${name}`, { text, base, message });

export const versions = async (name: string) =>
  (await asked<{ versions: Version[] }>(`/${name}/versions`)).versions;

export const version = (name: string, commit: string) =>
  asked<{ text: string; difference: string[] | null }>(`/${name}/versions/${commit}`);

/** Return the specification's text from SystemRDL; or null, with its mistakes. */
export const fromRdl = (text: string) =>
  askedOf<{ text: string | null; mistakes: { line: number; reason: string }[] }>("rdl", { text });

/** Return the specification's text of a variant of a card. */
export const vary = (card: string, seed: number) =>
  askedOf<{ text: string }>("variations", { card, seed });
