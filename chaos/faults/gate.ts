/** Lets many in at a time, or one alone; whoever waits to be alone is let in before others that come later. */
export class Gate {
  #inside = 0;
  #alone = Promise.resolve();
  #onEmpty: (() => void) | undefined;

  async together<T>(action: () => Promise<T>): Promise<T> {
    for (let waitedFor; waitedFor !== this.#alone;) {
      waitedFor = this.#alone;
      await waitedFor;
    }
    this.#inside += 1;
    try {
      return await action();
    } finally {
      this.#inside -= 1;
      if (this.#inside === 0) this.#onEmpty?.();
    }
  }

  async alone<T>(action: () => Promise<T>): Promise<T> {
    const before = this.#alone;
    let letIn = () => {};
    this.#alone = new Promise((resolve) => (letIn = resolve));
    try {
      await before;
      if (this.#inside > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
      return await action();
    } finally {
      letIn();
    }
  }
}
