import type { LoadMessage, LoadPlan, LoadResult } from './plan.ts';

export type Tell = (message: LoadMessage) => void;

/** Carries out each plan that comes over the IPC channel, and tells what it comes to. A plan that fails ends the process. */
export function takePlans(carryOut: (plan: LoadPlan, tell: Tell) => Promise<LoadResult>): void {
  const tell: Tell = (message) => process.send?.(message);
  process.on('message', (plan: LoadPlan) => {
    carryOut(plan, tell).then(tell, (error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  });
}
