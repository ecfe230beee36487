// SPDX-License-Identifier: MIT
// Words of a command, as a shell has them: spaces part them, quotes and backslashes keep them
// together. Nothing else that a shell does is done.

/** Return the words; an Error for a quote that does not end. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote = "";
  for (let place = 0; place < text.length; place++) {
    const letter = text[place]!;
    if (quote) {
      if (letter === quote) quote = "";
      else if (letter === "\\" && quote === '"' && place + 1 < text.length) word += text[++place]!;
      else word += letter;
    } else if (/\s/.test(letter)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (letter === "'" || letter === '"') {
      quote = letter;
      word ??= "";
    } else {
      word = (word ?? "") + (letter === "\\" && place + 1 < text.length ? text[++place]! : letter);
    }
  }
  if (quote) throw new Error(`${quote} does not end: close it, or leave it out`);
  return word === null ? words : [...words, word];
}

/** Return the text that has these words. */
export function textOf(words: string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(" ");
}
