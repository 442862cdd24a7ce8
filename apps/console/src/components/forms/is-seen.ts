import type { UseQueryResult } from '@tanstack/react-query';
import { isOfWhatWasSent } from '../../api/problem.ts';

/**
 * Whether what a form would do has been shown before it is sent. Where it has not, it is asked for, and whoever looks at it sends the form
 * again. A form that is refused for what it asks for may be sent: the refusal is told at its fields.
 */
export async function isSeen({ data, isPlaceholderData, error, refetch }: UseQueryResult): Promise<boolean> {
  if ((data !== undefined && !isPlaceholderData) || isOfWhatWasSent(error)) return true;
  const { error: refusal } = await refetch();
  if (isOfWhatWasSent(refusal)) throw refusal;
  return false;
}
