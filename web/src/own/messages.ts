// SPDX-License-Identifier: MIT
/** What is wrong with a user's file, and where. */

export interface Message {
  /** From 1; 0: no place in the file. */
  line: number;
  column: number;
  severity: "error" | "warning" | "info";
  text: string;
  /** It is of the simulation, not of the compiler. */
  isOfRun?: boolean;
}

const KINDS: Record<string, Message["severity"]> = {
  error: "error",
  "fatal error": "error",
  warning: "warning",
  note: "info",
};

/** Return the messages of clang. */
export function parsed(text: string): Message[] {
  return text.split("\n").flatMap((row) => {
    const message = /^(\S+?):(\d+):(\d+): (fatal error|error|warning|note): (.*)$/.exec(row);
    if (!message) return outside(row);
    const [, file, line, column, kind, words] = message;
    const severity = KINDS[kind!]!;
    if (file === "./mine.c")
      return [{ line: Number(line), column: Number(column), severity, text: words! }];
    const header = file!.replace(/^(\.+\/)+/, "");
    return [{ line: 0, column: 0, severity, text: `${header}, line ${line}: ${words}` }];
  });
}

function outside(row: string): Message[] {
  const message = /^(?:clang|LLVM ERROR)\S*: (?:(?:fatal )?error: )?(.*)/.exec(row);
  return message ? [{ line: 0, column: 0, severity: "error", text: message[1]! }] : [];
}
