// SPDX-License-Identifier: MIT
/** A worker that simulates, one question after the other; it is ended if it does not answer. */
import type { Reply, Request, Sign } from "./worker.ts";

export class Runner {
  private worker = start();

  /** `patienceMs` is how long the worker may give no sign of life; `late` says that it gave none. */
  constructor(
    private readonly patienceMs: number,
    private readonly late: string,
  ) {}

  /** Ask the worker; `signal` ends it, and a new one takes the next question. */
  ask(request: Request, signal: AbortSignal): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const { worker } = this;
      const end = (settle: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
        worker.onmessage = null;
        settle();
      };
      const restart = () => {
        worker.terminate();
        this.worker = start();
      };
      const abort = () => {
        restart();
        end(() => reject(new DOMException("cancelled", "AbortError")));
      };
      const giveUp = () => {
        restart();
        end(() => resolve({ id: request.id, error: this.late }));
      };
      let timer = setTimeout(giveUp, this.patienceMs);
      signal.addEventListener("abort", abort);
      worker.onmessage = ({ data }: MessageEvent<Reply | Sign>) => {
        if (!("alive" in data)) return end(() => resolve(data));
        clearTimeout(timer);
        timer = setTimeout(giveUp, this.patienceMs);
      };
      worker.postMessage(request);
    });
  }
}

function start(): Worker {
  return new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
}
