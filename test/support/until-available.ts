import { isUnavailable } from '@weir/db/database';

/** Does something again for as long as Postgres cannot answer, as workers do: on a busy machine a lock may not be had in time. */
export async function untilAvailable<Value>(work: () => Promise<Value>): Promise<Value> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
  }
}
