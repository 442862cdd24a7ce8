import { useBlocker } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { isSessionOfAnother } from '../../api/session.ts';
import { LeaveQuestion } from '../dialogs/dialog.tsx';
import { Unsaved } from '../dialogs/unsaved.ts';

/** A page whose forms change what is there, and keep no drafts of it: whoever leaves with something typed is asked. */
export function AskBeforeLeaving({ children }: { children: ReactNode }) {
  const [unsaved, setUnsaved] = useState(0);
  const leaving = useBlocker({
    shouldBlockFn: () => unsaved > 0,
    enableBeforeUnload: () => unsaved > 0 && !isSessionOfAnother(),
    withResolver: true,
  });
  return (
    <>
      <Unsaved value={setUnsaved}>{children}</Unsaved>
      {leaving.status === 'blocked' && <LeaveQuestion onLeave={leaving.proceed} onStay={leaving.reset} />}
    </>
  );
}
