/** What the API says when it refuses: `detail` is for a person, `code` for a program. */
export interface Problem {
  detail: string;
  code: string;
  /** Of the answer; left out where there was none. */
  status?: number | undefined;
  request_id?: string | undefined;
  errors?: { path: string; message: string }[] | undefined;
  id?: string | undefined;
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

/** The session is over, or there never was one. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.problem.code === 'unauthenticated';
}
