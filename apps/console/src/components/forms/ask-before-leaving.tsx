import { useState, type ReactNode } from 'react';
import { LeaveQuestion } from '../dialogs/dialog.tsx';
import { useLeaving } from '../dialogs/leaving.ts';
import { Unsaved } from '../dialogs/unsaved.ts';

/** A page whose forms change what is there, and keep no drafts of it: whoever leaves with something typed is asked. */
export function AskBeforeLeaving({ children }: { children: ReactNode }) {
  const [unsaved, setUnsaved] = useState(0);
  const leaving = useLeaving(unsaved > 0, { isWholePage: true });
  return (
    <>
      <Unsaved value={setUnsaved}>{children}</Unsaved>
      {leaving.status === 'blocked' && <LeaveQuestion onLeave={leaving.proceed} onStay={leaving.reset} />}
    </>
  );
}
