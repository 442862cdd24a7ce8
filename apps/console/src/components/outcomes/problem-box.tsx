import { Button } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { isToReload } from '../../api/load-part.ts';
import { problemOf } from '../../api/problem.ts';
import { CopyButton } from '../page/copy-button.tsx';
import { wordsOf } from './problem-words.ts';

interface ProblemBoxProps {
  error: unknown;
  onRetry?: () => void;
  /** Has the focus as soon as it is there: for what answers a press of a button. */
  isFocused?: boolean;
}

/** Shows a refusal in words. Where Weir itself failed, also the id by which its log knows the request. */
export function ProblemBox({ error, onRetry, isFocused = false }: ProblemBoxProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isFocused && error !== null) box.current?.focus();
  }, [error, isFocused]);
  if (error === null || error === undefined) return null;
  const problem = problemOf(error);
  const { status = 0, request_id: requestId } = problem;
  const { said, fields } = wordsOf(problem);
  return (
    <div ref={box} className="problem" role="alert" tabIndex={-1}>
      <p className="problem-detail">{fields.length === 0 ? said : fields.map(({ message }) => message).join(' ')}</p>
      {requestId !== undefined && status >= 500 && (
        <p className="problem-request">
          Request <code>{requestId}</code> <CopyButton value={requestId} label="Copy the id of the request" />
        </p>
      )}
      {isToReload(problem.code) ? (
        <Button variant="default" onClick={() => window.location.reload()}>
          Reload the page
        </Button>
      ) : (
        onRetry !== undefined && (
          <Button variant="default" onClick={onRetry}>
            Try again
          </Button>
        )
      )}
    </div>
  );
}
