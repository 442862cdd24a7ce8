import { rejectOnAbort, type Child } from '../child.ts';
import type { LoadMessage, LoadPlan, LoadResult } from './plan.ts';

/** Answers under way at the end of the load are waited for, events are made ahead, and the processes get some time around that. */
const LOAD_SECONDS_EXTRA = 60;

export interface LoadListener {
  /** Called at the moment the time begins, and waited for. */
  onBegan?: () => Promise<void>;
  /** Called about every second, and not while it is still at work. */
  onProgress?: (seconds: number, accepted: number) => Promise<void>;
  /** Called at the moment the time is over, and waited for. */
  onEnded?: () => Promise<void>;
}

/** Has a plan carried out by a process. Throws what a listener throws. */
export async function runPlan(load: Child, plan: LoadPlan, listener: LoadListener): Promise<LoadResult> {
  const { process: loader } = load;
  const limit = AbortSignal.timeout((plan.seconds + LOAD_SECONDS_EXTRA) * 1_000);
  let began: Promise<void> | undefined;
  let ended: Promise<void> | undefined;
  let progressing: Promise<void> | undefined;
  const result = new Promise<LoadResult>((resolve, reject) => {
    loader.on('message', (message: LoadMessage) => {
      if (message.kind === 'result') resolve(message);
      else if (message.kind === 'began') {
        began = listener.onBegan?.();
        began?.catch(reject);
      } else if (message.kind === 'ended') {
        ended = listener.onEnded?.();
        ended?.catch(reject);
      } else if (progressing === undefined) {
        progressing = listener.onProgress?.(message.seconds, message.accepted);
        progressing?.then(() => (progressing = undefined), reject);
      }
    });
  });
  try {
    loader.send(plan);
    const answer = await Promise.race([result, rejectOnAbort(limit)]);
    await began;
    await ended;
    await progressing;
    return answer;
  } finally {
    loader.removeAllListeners('message');
  }
}
