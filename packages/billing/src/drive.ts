// Long work that stops where it can. The run does it in one go; a request does it in slices, between which others have a turn.

import { toEnd } from '@weir/shared/to-end';

/** Does work that stops where it can, to its end. */
export type Drive = <Result>(work: Generator<undefined, Result, undefined>) => Promise<Result>;

/** In one go, for processes that serve nobody meanwhile. */
export const inOneGo: Drive = async (work) => toEnd(work);
