import type { ReactNode } from 'react';
import { AtRisk, useRisks } from '../dialogs/at-risk.ts';
import { LeaveQuestion } from '../dialogs/dialog.tsx';
import { useLeaving } from '../dialogs/leaving.ts';

/** A page with forms: whoever leaves with something typed of which no draft is kept, or while it is sent, is asked. */
export function AskBeforeLeaving({ children }: { children: ReactNode }) {
  const { risk, report } = useRisks();
  const leaving = useLeaving(risk, { isWholePage: true });
  return (
    <>
      <AtRisk value={report}>{children}</AtRisk>
      {leaving.status === 'blocked' && <LeaveQuestion risk={risk} onLeave={leaving.proceed} onStay={leaving.reset} />}
    </>
  );
}
