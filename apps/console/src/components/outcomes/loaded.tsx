import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Loading } from './loading.tsx';
import { ProblemBox } from './problem-box.tsx';

interface LoadedProps<Data> {
  query: UseQueryResult<Data, unknown>;
  /** How many lines of loading: about as high as what will stand there, so that nothing jumps. */
  rows?: number;
  /** Whether it answers a press of a button: then a problem has the focus. */
  isPressedFor?: boolean;
  children: (data: Data) => ReactNode;
}

/**
 * What was read, or the sign that it is being read, or why it cannot be. A refresh that fails leaves what was there. The answer
 * to another question, which stands there until this one is answered, is grey and says that it is not yet the answer.
 */
export function Loaded<Data>({ query, rows, isPressedFor = false, children }: LoadedProps<Data>) {
  const { data, error, isPending, isPlaceholderData: isOfBefore } = query;
  if (isPending) return <Loading rows={rows} />;
  const problem = error !== null && (
    <ProblemBox error={error} onRetry={() => void query.refetch()} isFocused={isPressedFor} />
  );
  if (data === undefined) return problem;
  return (
    <div className="shown" aria-busy={isOfBefore}>
      {isOfBefore && (
        <p className="shown-before" role="status">
          Loading … what stands here is from before
        </p>
      )}
      {problem}
      {children(data)}
    </div>
  );
}
