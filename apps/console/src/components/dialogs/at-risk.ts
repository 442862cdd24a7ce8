import { createContext, useCallback, useContext, useLayoutEffect, useState } from 'react';

/** What whoever leaves would lose: what was typed, the place where it is told what becomes of what is sent, or what is shown once. */
export type Risk = 'typed' | 'sent' | 'shown once';

type Report = (risk: Risk) => () => void;

/** Given by what asks before it goes to what is in it, which tells by it what is at risk, until that is over. */
export const AtRisk = createContext<Report>(() => () => {});

/** Tells what is around it what whoever leaves now would lose. */
export function useAtRisk(risk: Risk | undefined): void {
  const report = useContext(AtRisk);
  useLayoutEffect(() => (risk === undefined ? undefined : report(risk)), [risk, report]);
}

/** What is at risk in it, and how that is reported. While something is sent that comes first: nobody knows yet what is lost. */
export function useRisks(): { risk: Risk | undefined; report: Report } {
  const [risks, setRisks] = useState<readonly Risk[]>([]);
  const report = useCallback((risk: Risk) => {
    setRisks((before) => [...before, risk]);
    return () => setRisks((before) => before.toSpliced(before.indexOf(risk), 1));
  }, []);
  return { risk: risks.includes('sent') ? 'sent' : risks[0], report };
}
