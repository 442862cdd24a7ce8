import type { UseQueryResult } from '@tanstack/react-query';
import { isOfWhatWasSent, problemOf } from '../../api/problem.ts';

/**
 * Whether what a form would do has been shown before it is sent. Where it has not, it is asked for anew, and whoever looks at it sends the
 * form again. A form that is refused by now for what it asks for may be sent: the refusal is told at its fields.
 */
export async function isSeen({ data, isPlaceholderData, refetch }: UseQueryResult): Promise<boolean> {
  if (data !== undefined && !isPlaceholderData) return true;
  // What was refused before may have passed, and would then be done unseen.
  const { error } = await refetch();
  // A preview of a correction is also refused for the time that it takes, and the correction may take less.
  return isOfWhatWasSent(error) && problemOf(error).code !== 'not_correctable';
}
