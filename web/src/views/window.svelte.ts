// SPDX-License-Identifier: MIT
/** What all plots against time show: from when, how long, and the cursor; and the clock of "play". */

const SHORTEST_MS = 0.01;
const MARGIN = 0.1; // of the window, before the cursor when the window follows it

export class TimeWindow {
  length = $state(1);
  from = $state(0);
  span = $state(1);
  cursor = $state(0);
  playing = $state(false);
  /** ms of the disk in a second of the watcher. */
  speed = $state(100);
  private frame = 0;

  get to(): number {
    return this.from + this.span;
  }

  /** Show another run; the window stays where it is, if the run has a part there. */
  fit(length: number, span: number): void {
    this.length = length;
    this.show(this.from < length ? this.from : 0, span);
    this.cursor = Math.min(this.cursor, length);
  }

  show(from: number, span: number): void {
    this.span = Math.min(Math.max(span, SHORTEST_MS), this.length);
    this.from = Math.min(Math.max(from, 0), this.length - this.span);
  }

  pan(share: number): void {
    this.show(this.from + share * this.span, this.span);
  }

  /** Change the span; `at` stays where it is. */
  zoom(factor: number, at = this.isInside() ? this.cursor : this.from + this.span / 2): void {
    const span = Math.min(Math.max(this.span * factor, SHORTEST_MS), this.length);
    this.show(at - ((at - this.from) / this.span) * span, span);
  }

  move(time: number): void {
    this.cursor = Math.min(Math.max(time, 0), this.length);
    if (!this.isInside()) this.show(this.cursor - MARGIN * this.span, this.span);
  }

  toggle(): void {
    this.playing = !this.playing;
    cancelAnimationFrame(this.frame);
    if (!this.playing) return;
    if (this.cursor >= this.length) this.move(0);
    let last = performance.now();
    const step = (now: number) => {
      this.move(this.cursor + ((now - last) / 1000) * this.speed);
      last = now;
      if (this.cursor >= this.length) this.playing = false;
      if (this.playing) this.frame = requestAnimationFrame(step);
    };
    this.frame = requestAnimationFrame(step);
  }

  /** Do what a key stands for; return whether it stands for something. */
  press(key: string, shift: boolean): boolean {
    const step = (shift ? 0.1 : 0.01) * this.span;
    const actions: Record<string, () => void> = {
      " ": () => this.toggle(),
      ArrowLeft: () => this.move(this.cursor - step),
      ArrowRight: () => this.move(this.cursor + step),
      PageUp: () => this.pan(-0.5),
      PageDown: () => this.pan(0.5),
      Home: () => this.move(0),
      End: () => this.move(this.length),
      "+": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      "0": () => this.show(0, this.length),
    };
    actions[key]?.();
    return key in actions;
  }

  private isInside(): boolean {
    return this.from <= this.cursor && this.cursor <= this.to;
  }
}
