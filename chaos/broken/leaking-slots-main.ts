// Loaded before the API (`node --import`): an answer whose client has hung up never says that it is over. Whoever waits for
// that to give something back waits for ever. The judge has to find the slots that are missing.

import { ServerResponse } from 'node:http';

// eslint-disable-next-line @typescript-eslint/unbound-method
const { emit } = ServerResponse.prototype;

ServerResponse.prototype.emit = function (this: ServerResponse, event: string | symbol, ...args: unknown[]): boolean {
  if (event === 'close' && !this.writableFinished) return false;
  return emit.call(this, event, ...args);
};
