import { Button } from '@mantine/core';
import { problemOf } from '../api/problem.ts';
import { CopyButton } from './copy-button.tsx';

/** What the API says went wrong, word for word. Where Weir itself failed, also the id by which its log knows the request. */
export function ProblemBox({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (error === null || error === undefined) return null;
  const { detail, status = 0, request_id: requestId } = problemOf(error);
  return (
    <div className="problem" role="alert">
      <p className="problem-detail">{detail}</p>
      {requestId !== undefined && status >= 500 && (
        <p className="problem-request">
          Request <code>{requestId}</code> <CopyButton value={requestId} label="Copy the id of the request" />
        </p>
      )}
      {onRetry !== undefined && (
        <Button variant="default" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
