import { expect, test } from 'vitest';
import { chaosReport, chaosReportText } from './chaos-report.ts';
import { Check } from './judge/check.ts';
import { figuresOf } from './judge/figures.ts';
import { MadeUpRun } from './judge/made-up-run.ts';

test('a report names the checks that had nothing to look at', () => {
  const [seen, unseen] = [new Check('accepted', 'It is.'), new Check('webhooks', 'They come.')];
  seen.examine();
  const figures = figuresOf(new MadeUpRun().facts, []);
  const textOf = (checks: Check[]) => chaosReportText(chaosReport({ seed: 1, seconds: 60 }, { checks, figures }));
  expect(textOf([seen, unseen])).toContain('nothing is proved, by: webhooks.');
  expect(textOf([seen])).not.toContain('nothing is proved');
});
