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

/**
 * The worst risk comes first: what is shown once nobody can show again, also where it is only being made. Of what is sent nobody knows
 * yet what is lost.
 */
const WORST_FIRST: readonly Risk[] = ['shown once', 'sent', 'typed'];

/** What is at risk in it, whether something is sent by it now, and how that is reported. */
export function useRisks(): { risk: Risk | undefined; isSent: boolean; report: Report } {
  const [risks, setRisks] = useState<readonly Risk[]>([]);
  const report = useCallback((risk: Risk) => {
    setRisks((before) => [...before, risk]);
    return () => setRisks((before) => before.toSpliced(before.indexOf(risk), 1));
  }, []);
  return { risk: WORST_FIRST.find((each) => risks.includes(each)), isSent: risks.includes('sent'), report };
}
