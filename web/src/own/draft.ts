// SPDX-License-Identifier: MIT
/** The user's text, kept in this browser, so that loading the page again does not lose it. */

const KEY = "understudy.mine.c";

/** Keep a text, or forget it (null). */
export function keep(text: string | null): void {
  try {
    if (text === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, text);
  } catch {
    // The browser keeps nothing for this page, or it has no room: the text lasts as long as the page.
  }
}

/** Return the text that is kept, or null. */
export function kept(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
