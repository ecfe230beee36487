// SPDX-License-Identifier: MIT
/** What a page that is one file shows of its runs, and how the views ask for such a page. */
import type { Prepared } from "./prepared.ts";

export type View =
  | "strip"
  | "platter"
  | "cache"
  | "head"
  | "queue"
  | "requests"
  | "comparison"
  | "distribution"
  | "service"
  | "rate";

/** `view`: the only one, of the only runs that are in the page; null: all. */
export interface Shown {
  view: View | null;
  /** The time that the plots show, and the cursor; in ms. */
  from: number;
  span: number;
  cursor: number;
}

/** Save a page with these runs. */
export type Share = (name: string, shown: Shown, prepared: Prepared) => Promise<void>;

/** The key of a context: save a page with one view of some runs, or with all of all. */
export const SHARING = Symbol("sharing");
export type Sharing = (name: string, view: View | null, runs: string[]) => void;
