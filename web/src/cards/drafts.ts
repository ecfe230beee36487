// SPDX-License-Identifier: MIT
// Changes that are not saved yet, kept by the browser: they survive another card, a reload and the
// end of the studio. A browser that keeps nothing loses only that.

export interface Kept {
  text: string; // from which the document was read
  document: string; // as JSON
  base: string | null;
  saved: string; // the text of the base
}

export class Drafts {
  readonly #prefix: string;

  constructor(folder: string) {
    this.#prefix = `understudy card ${folder} `;
  }

  keep(name: string, kept: Kept): void {
    try {
      localStorage.setItem(this.#prefix + name, JSON.stringify(kept));
    } catch {
      // full, or switched off
    }
  }

  drop(name: string): void {
    try {
      localStorage.removeItem(this.#prefix + name);
    } catch {
      // switched off
    }
  }

  kept(name: string): Kept | null {
    try {
      const value = JSON.parse(localStorage.getItem(this.#prefix + name) ?? "null") as Kept | null;
      return typeof value?.text === "string" ? value : null;
    } catch {
      return null;
    }
  }

  names(): string[] {
    try {
      const keys = Object.keys(localStorage).filter((key) => key.startsWith(this.#prefix));
      return keys.map((key) => key.slice(this.#prefix.length)).sort();
    } catch {
      return [];
    }
  }
}
