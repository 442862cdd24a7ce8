/** What the API says when it refuses: `detail` is for a person, `code` for a program. */
export interface Problem {
  detail: string;
  code: string;
  /** Of the answer; left out where there was none. */
  status?: number | undefined;
  request_id?: string | undefined;
  errors?: { path: string; message: string }[] | undefined;
  id?: string | undefined;
  /** Of what cannot be done now: whether it may have been done all the same. */
  outcome?: 'not_accepted' | 'unknown' | undefined;
  /** A write that was sent before with the same key, and nobody knows what became of it then. */
  was_sent_before?: boolean | undefined;
  /** How long to wait before one asks again, where the API says so. */
  retry_after_seconds?: number | undefined;
}

/** A refusal of the API, or a request that got no answer (code `no_answer`). */
export class ApiError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.name = 'ApiError';
    this.problem = problem;
  }
}

/** Returns any error as a problem: what is not of the API is a defect of the console, and says so. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ApiError) return error.problem;
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'console_error', detail: `The console could not do this: ${message}` };
}

/** Whether it is refused for what it asks for, and would be again. What else fails may pass, or nobody knows what became of it. */
export function isOfWhatWasSent(error: unknown): boolean {
  const { code, status = 0 } = problemOf(error);
  return [404, 409, 422].includes(status) && !['no_answer', 'request_under_way'].includes(code);
}

/** The session is over, or there never was one. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.problem.code === 'unauthenticated';
}
